/* Elements of a page, made of text alone: nothing that is verified is ever read as markup. */

/** @type {any} */
export const page = globalThis;

/** @param {string} id @returns {any} */
export const byId = id => page.document.getElementById(id);

/** @param {string} tag @param {string} text @param {Record<string, string>} [attributes] @returns {any} */
export function element(tag, text, attributes = {}) {
  const made = page.document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {string} tag @param {Record<string, string>} attributes @param {...any} children @returns {any} */
export function parent(tag, attributes, ...children) {
  const made = element(tag, '', attributes);
  made.append(...children);
  return made;
}
