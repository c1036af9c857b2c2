"""Where experience rests."""
