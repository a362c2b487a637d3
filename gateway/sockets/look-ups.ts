import type { Principal } from '../../schema/principal.ts';
import { NextRuns } from '../../subgraphs/coalesce.ts';
import type { Shown } from '../graph/identify.ts';
import type { SocketCallers } from './serve-sockets.ts';

const AT_ONCE_MAX = 16;

/**
 * Asks who is calling, for sockets that may ask by the thousand: so many at once, and one for all who show the same and
 * ask before it begins.
 */
export class LookUps {
  readonly #callers: Pick<SocketCallers, 'identify'>;
  readonly #runs = new NextRuns<Principal>();
  readonly #turns: (() => void)[] = [];
  #running = 0;

  constructor(callers: Pick<SocketCallers, 'identify'>) {
    this.#callers = callers;
  }

  identify(shown: Shown): Promise<Principal> {
    return this.#runs.share(keyOf(shown), () => this.#inTurn(shown));
  }

  async #inTurn(shown: Shown): Promise<Principal> {
    if (this.#running === AT_ONCE_MAX) await new Promise<void>(resolve => this.#turns.push(resolve));
    else this.#running++;
    try {
      return await this.#callers.identify(shown);
    } finally {
      const next = this.#turns.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** All that the answer depends on. */
function keyOf({ session, proof, rests_on, api_key, address }: Shown): string {
  return JSON.stringify([session, proof, rests_on, api_key, address]);
}
