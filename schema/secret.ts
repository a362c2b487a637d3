import { inspect } from 'node:util';

/* A value that no log, error or JSON shows. */

const HIDDEN = '[secret]';

/**
 * What a caller hands us to use and not to keep. It goes out where it is revealed by name and nowhere else: as text, as
 * JSON, in an error or a log line it says that there is one.
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
