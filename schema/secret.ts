import { inspect } from 'node:util';

/* A value that no log, error or JSON shows. */

const HIDDEN = '[secret]';

/**
 * A value that a caller sends for use and not for storage. Only an explicit call reveals it; as text, as JSON, in errors and log lines it
 * is a placeholder.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
