"""Label rules and loss values as plain functions of the standard library; `golden` replays them."""
