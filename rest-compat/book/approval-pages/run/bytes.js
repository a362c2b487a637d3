/* Texts as bytes, and bytes as hex. */

const utf8 = new TextEncoder();

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export const bytesOf = text => utf8.encode(text);

/** @param {Uint8Array} bytes */
export const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
