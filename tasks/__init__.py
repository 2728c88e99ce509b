"""What is measured: one benchmark a module. May import `spadework.harness` only."""
