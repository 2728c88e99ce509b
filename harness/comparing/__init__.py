"""Two or more subjects on the same items: what each was measured at, the verb `spadework compare`, its words."""
