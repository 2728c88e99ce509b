"""What tau2 takes from inspect-evals, imported in one place because the package warns of its own faults on the way."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from inspect_evals.tau2.airline.agents import get_domain_policy as airline_policy
    from inspect_evals.tau2.airline.AirlineAgentTools import AirlineAgentTools
    from inspect_evals.tau2.airline.data_model import FlightDB
    from inspect_evals.tau2.airline.tools import all_airline_tools
    from inspect_evals.tau2.common.dataset import USER_MESSAGE
    from inspect_evals.tau2.data_model.tasks import Task
    from inspect_evals.tau2.retail.agents import get_domain_policy as retail_policy
    from inspect_evals.tau2.retail.data_model import RetailDB
    from inspect_evals.tau2.retail.RetailAgentTools import RetailAgentTools
    from inspect_evals.tau2.retail.tools import all_retail_tools
    from inspect_evals.tau2.telecom.agents import get_domain_policy as telecom_policy
    from inspect_evals.tau2.telecom.environment import get_environment
    from inspect_evals.tau2.telecom.solver import perform_action
    from inspect_evals.tau2.telecom.tools import all_telecom_agent_tools
    from inspect_evals.tau2.telecom.user_tools import all_telecom_user_tools
    from inspect_evals.tau2.utils import (
        TAU2_DATA_DIR,
        USER_SIMULATOR_GUIDELINES,
        USER_SIMULATOR_GUIDELINES_WITH_TOOLS,
        deep_equal_unordered,
    )

__all__ = [
    "TAU2_DATA_DIR", "USER_MESSAGE", "USER_SIMULATOR_GUIDELINES", "USER_SIMULATOR_GUIDELINES_WITH_TOOLS",
    "AirlineAgentTools", "FlightDB", "RetailAgentTools", "RetailDB", "Task", "airline_policy", "all_airline_tools",
    "all_retail_tools", "all_telecom_agent_tools", "all_telecom_user_tools", "deep_equal_unordered", "get_environment",
    "perform_action", "retail_policy", "telecom_policy",
]  # fmt: skip
