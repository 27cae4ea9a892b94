"""Tags for templates, where Django looks for them."""
