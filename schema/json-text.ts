/** A part of a response that is JSON text already, as the database wrote it. It is sent verbatim, never parsed. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Fallback for serialisers other than `jsonText`: same result, slower. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Depth to which it is looked for: GraphQL's `data`, a root field, a field of it. Deeper it is serialized like any value. */
const DEPTH_MAX = 4;

/** JSON.stringify, except that written parts are inserted verbatim. */
export function jsonText(value: unknown, depth_max = DEPTH_MAX): string {
  if (value instanceof RawJson) return value.text;
  if (!isPlainObject(value) || !holdsWritten(value, depth_max)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member, depth_max - 1)}`).join()}}`;
}

function holdsWritten(value: object, depth_max: number): boolean {
  if (depth_max === 0) return false;
  for (const member of Object.values(value)) {
    // Most members are leaves.
    if (typeof member !== 'object' || member === null) continue;
    if (member instanceof RawJson || (isPlainObject(member) && holdsWritten(member, depth_max - 1))) return true;
  }
  return false;
}

/** GraphQL's results have no prototype. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
