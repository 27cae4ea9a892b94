// Fields that search while one types are drawn by a library that does not name them: their labels do.
'use strict';
window.addEventListener('load', () => {
  const name = (field) => {
    const label = document.querySelector(`label[for="${field.id}"]`);
    const text = label ? label.textContent.trim().replace(/:$/, '') : field.name;
    const drawn = field.nextElementSibling;
    for (const part of drawn ? drawn.querySelectorAll('[role=combobox], [role=textbox]') : [])
      part.setAttribute('aria-label', text);
  };
  for (const field of document.querySelectorAll('select.admin-autocomplete')) {
    name(field);
    window.django.jQuery(field).on('change', () => name(field));
  }
});
