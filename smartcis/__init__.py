"""SmartCIS: the Django project around AspEN."""
