import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import type { HeadName } from '../../subgraphs/receipt/log/tree-head.ts';
import type { Config } from '../config/read-config.ts';
import type { Operations } from '../operations/open.ts';
import type { BaseChain } from '../rails/base/chain.ts';
import { epochChainOf, holdUntilRecognized } from '../rails/base/chain-identity.ts';
import { openBase } from '../rails/base/open-base.ts';
import { ChainAway, openEpoch, requireKnownChain } from '../rails/epoch.ts';
import { anchoredSentence } from './anchor/anchored-heads.ts';
import { Anchoring, SEARCH_MS_MAX } from './anchor/anchoring.ts';
import { type Anchors, openAnchors } from './anchor/open-anchors.ts';
import { type LogOptions, type LogStanding, type OpenedLog, openLog } from './open-log.ts';

interface BaseStartParts {
  readonly database: Database;
  readonly chain: BaseChain;
  /** Null if this process never anchors. */
  readonly anchoring: Anchoring | null;
  readonly log: LogStanding;
  readonly profile: 'development' | 'production';
  /** Owner name in this process's lease. */
  readonly owner: string;
  readonly logger: Logger;
}

const RETRY_MS = 2_000;

/**
 * Checks that the node serves the right Base: the chain on which this database was paid, and whose anchored heads the log extends. If the
 * chain is unreachable at the start, the service starts without it: free endpoints work, and paid ones answer 503 until both are known.
 */
export class BaseStart {
  /** The chain for other parts of the service. It is unreachable until `begin` has recognized it. */
  readonly chain: BaseChain;
  readonly #parts: BaseStartParts;
  readonly #release: () => void;
  readonly #stopping = new AbortController();
  #waiting: Promise<void> = Promise.resolve();
  #epoch: number | null = null;

  constructor(parts: BaseStartParts) {
    const { chain, release } = holdUntilRecognized(parts.chain);
    this.chain = chain;
    this.#parts = parts;
    this.#release = release;
  }

  /** Whether the chain has been recognized. */
  get done(): boolean {
    return this.#epoch !== null;
  }

  /** Whether the log is sound by its leaves and by its anchors. */
  get sound(): boolean {
    const { anchoring, log } = this.#parts;
    return log.sound && this.done && (anchoring?.sound ?? true);
  }

  /** Reason why this process records nothing. Null while it may record. */
  get halt(): LogStanding['halt'] {
    return this.#parts.log.halt;
  }

  get signs(): boolean {
    return this.#parts.log.signs;
  }

  get anchoring(): Anchoring | null {
    return this.#parts.anchoring;
  }

  /** Epoch of the chain. @throws ChainAway until the chain is recognized, so that nothing of it is recorded before */
  get chain_epoch(): number {
    if (this.#epoch === null) throw new ChainAway('the chain has not been recognized yet');
    return this.#epoch;
  }

  /**
   * Recognizes the chain, or begins to try again every 2 seconds, without limit, if it is unreachable. `jwks`: keys by which declared
   * breaks are verified. @throws OtherChain, AnchorContradicted
   */
  async begin(jwks: JsonObject): Promise<void> {
    this.#parts.anchoring?.trust(jwks);
    try {
      await this.#know();
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#parts.logger.warn(
        `${awaySentence(error)}; no payments are accepted until it does. It is tried again every 2 seconds`,
      );
      this.#waiting = this.#wait();
    }
  }

  /** Compares the chain with the recorded one before anything is written. An unreachable chain is compared later. @throws OtherChain */
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
        logger.fatal(
          { err: error },
          `${(error as Error).message}. No payments are accepted until this is corrected and the process restarted.`,
        );
        return;
      }
    }
    if (this.done) logger.info('the node of BASE_RPC_URL answers and serves the expected chain; payments are accepted');
  }
}

/**
 * Sentence that names the variable of the unreachable service. The URL and the node's response are not shown, because they may contain a
 * key.
 */
function awaySentence(error: unknown): string {
  const variable = error instanceof DatabaseAway ? 'DATABASE_URL' : 'BASE_RPC_URL';
  const cause = error instanceof Error ? error.cause : null;
  const why = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
  return `${variable} does not answer${why}`;
}

function isAway(error: unknown): boolean {
  return error instanceof ChainAway || error instanceof DatabaseAway;
}

interface LogAndBaseParts extends Pick<LogOptions, 'audit_leaves' | 'faults' | 'logger'> {
  readonly database: Database;
  readonly openChain: typeof openBase;
  readonly issuer: Issuer;
  readonly operations: Operations;
  readonly closing: AsyncDisposableStack;
  /** Owner name in this process's lease. */
  readonly owner: string;
}

interface LogAndBase {
  readonly log: OpenedLog;
  readonly base: BaseStart;
}

/** Opens the log, and proves it by the saved head. The heads on Base are checked when `base` begins. */
export async function openLogAndBase(config: Config, parts: LogAndBaseParts): Promise<LogAndBase> {
  const { audit_leaves, closing, database, faults = null, issuer, logger, openChain, operations, owner } = parts;
  const chain = closing.adopt(openChain({ rpc_url: config.base_rpc_url }), it => it.close());
  // Anchoring uses the chain of BASE_RPC_URL, so it is off if the options replace that chain.
  const anchors = openChain === openBase ? openAnchors(config, { database, chain, issuer }) : null;
  if (anchors) closing.adopt(anchors, it => it.close());
  const options = { data_dir: config.data_dir, faults, issuer, logger, audit_leaves };
  const log = await openLog(database, options).catch(fault => withAnchored(fault, anchors));
  closing.adopt(log, it => it.stop());
  const { standing } = log;

  const ended = (outcome: 'done' | 'failed') => operations.roundEnded('anchor', outcome);
  const contradicted = (head: HeadName) => log.watch.meet(head);
  const anchoring =
    anchors && new Anchoring({ ...anchors, log: standing, logger, onEnd: ended, onContradiction: contradicted });
  const { profile } = config;
  const start = new BaseStart({ database, chain, anchoring, log: standing, profile, logger, owner });
  const base = closing.adopt(start, it => it.stop());
  return { log, base };
}

/**
 * Adds the newest anchored head to the error of a broken log. If the saved head is lost, the anchored one is the last head that is known to
 * be signed.
 */
async function withAnchored(fault: unknown, anchors: Anchors | null): Promise<never> {
  if (!anchors || !(fault instanceof Error) || fault.name !== 'BrokenLog') throw fault;
  const { heads, key } = anchors;
  const sentence = await anchoredSentence(heads, key.address, performance.now() + SEARCH_MS_MAX);
  throw Object.assign(new Error(`${fault.message} (${sentence})`, { cause: fault }), { name: fault.name });
}
