"""All hostile programs by name, those of this machine."""

import platform

from .answering import ANSWERING
from .bombs import BOMBS
from .elsewhere import ELSEWHERE
from .endless import ENDLESS
from .hostile import Hostile
from .intruding import INTRUDING
from .kernel_doors import KERNEL_DOORS

PROGRAMS: dict[str, Hostile] = {
    hostile.name: hostile
    for hostile in (*ENDLESS, *ELSEWHERE, *INTRUDING, *KERNEL_DOORS, *ANSWERING)
    if platform.machine() == "x86_64" or not hostile.x86_only
}
TEXTS: dict[str, Hostile] = {hostile.name: hostile for hostile in BOMBS}
EVERYTHING = PROGRAMS | TEXTS
