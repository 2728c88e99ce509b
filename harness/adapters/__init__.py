"""Other harnesses on our port: one thin adapter each. They import their package, so import them where they are used."""
