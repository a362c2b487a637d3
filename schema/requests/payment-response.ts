import { isJsonObject, type JsonObject } from '../canonical-json.ts';

/** The object in a settlement header: base64 of JSON as it goes over the wire, or the JSON itself. Null: it is neither. */
export function decodedResponse(header: string): JsonObject | null {
  const given = header.trim();
  const text = given.startsWith('{') ? given : textIn(given);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** RFC 4648 4 and 5, with or without padding. */
function textIn(base64: string): string | null {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').toString('utf8') : null;
}
