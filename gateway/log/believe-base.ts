import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import type { BaseChain } from '../rails/base/chain.ts';
import { epochChainOf, unbelieved } from '../rails/base/chain-identity.ts';
import { ChainAway, openEpoch, requireKnownChain } from '../rails/epoch.ts';
import type { Anchoring } from './anchor/anchoring.ts';
import type { LogStanding } from './open-log.ts';

export interface BaseStartParts {
  readonly database: Database;
  readonly chain: BaseChain;
  /** Null: nothing is anchored. */
  readonly anchoring: Anchoring | null;
  readonly log: LogStanding;
  readonly profile: 'development' | 'production';
  /** This process, as its lease names it. */
  readonly owner: string;
  readonly logger: Logger;
}

const RETRY_MS = 2_000;

/**
 * What has to be known of Base before it is believed: that it is the chain that this database was paid on, and that the log
 * extends what is anchored there. Where it cannot be asked at start, the service starts without: what is free is
 * served, paid doors answer 503, and they open by themselves once both are known.
 */
export class BaseStart {
  /** As everybody else is handed it: unreachable until `begin` has come to know it. */
  readonly chain: BaseChain;
  readonly #parts: BaseStartParts;
  readonly #release: () => void;
  readonly #stopping = new AbortController();
  #waiting: Promise<void> = Promise.resolve();
  #epoch: number | null = null;

  constructor(parts: BaseStartParts) {
    const { chain, release } = unbelieved(parts.chain);
    this.chain = chain;
    this.#parts = parts;
    this.#release = release;
  }

  /** Whether it is known what has to be. */
  get done(): boolean {
    return this.#epoch !== null;
  }

  /** Whether the log can be relied on: by its leaves, and by what is anchored of it. */
  get sound(): boolean {
    const { anchoring, log } = this.#parts;
    return log.sound && this.done && (anchoring?.sound ?? true);
  }

  /** What stops this process from recording anything; null while nothing does. */
  get halt(): LogStanding['halt'] {
    return this.#parts.log.halt;
  }

  get signs(): boolean {
    return this.#parts.log.signs;
  }

  get anchoring(): Anchoring | null {
    return this.#parts.anchoring;
  }

  /** @throws ChainAway while it is not known: nothing of this chain is recorded then. */
  get chain_epoch(): number {
    if (this.#epoch === null) throw new ChainAway('the chain is not known to be ours yet');
    return this.#epoch;
  }

  /**
   * `jwks`: the keys by which declared breaks are believed.
   * @throws OtherChain, AnchorContradicted; a chain that cannot be asked is asked again, for as long as it takes.
   */
  async begin(jwks: JsonObject): Promise<void> {
    this.#parts.anchoring?.trust(jwks);
    try {
      await this.#know();
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#parts.logger.warn(`${awaySentence(error)}: no payments are taken until it does`);
      this.#waiting = this.#wait();
    }
  }

  /** Before anything is written on its word. What cannot be asked now is compared once it can. @throws OtherChain */
  async compare(): Promise<void> {
    const { chain, database, profile } = this.#parts;
    try {
      await requireKnownChain(database, epochChainOf(chain), { profile });
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#waiting;
    await this.#parts.anchoring?.stop();
  }

  async #know(): Promise<void> {
    const { anchoring, chain, database, profile, owner } = this.#parts;
    const epoch = await openEpoch(database, epochChainOf(chain), { profile, owner });
    await anchoring?.prove();
    this.#epoch = epoch;
    this.#release();
    anchoring?.start(epoch);
  }

  async #wait(): Promise<void> {
    const { signal } = this.#stopping;
    const { logger } = this.#parts;
    while (!this.done && !signal.aborted) {
      await sleep(RETRY_MS, null, { signal, ref: false }).catch(() => {});
      try {
        if (!signal.aborted) await this.#know();
      } catch (error) {
        if (isAway(error)) continue;
        logger.fatal({ err: error }, `${(error as Error).message} No payments are taken.`);
        return;
      }
    }
    if (this.done) logger.info('Base is known to be ours: payments are taken');
  }
}

/** By the variable that says where to ask. An address may hold a key: it is not shown, nor what the node said. */
function awaySentence(error: unknown): string {
  const variable = error instanceof DatabaseAway ? 'DATABASE_URL' : 'BASE_RPC_URL';
  const cause = error instanceof Error ? error.cause : null;
  const why = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
  return `${variable} does not answer${why}`;
}

function isAway(error: unknown): boolean {
  return error instanceof ChainAway || error instanceof DatabaseAway;
}
