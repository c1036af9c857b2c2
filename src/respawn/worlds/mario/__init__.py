"""Super Mario Bros.: the console it runs on, the ROM it needs, the rules of the game."""
