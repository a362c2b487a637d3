import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../../subgraphs/clock.ts';
import { findExtendingHead, proveHeads } from '../../../subgraphs/receipt/log/anchored-head.ts';
import { type TreeHeadFacts } from '../../../subgraphs/receipt/log/tree-head.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { ChainAway } from '../../rails/epoch.ts';
import { type AnchorChain, type AnchoredHead, LOG_ANCHOR } from './anchor-chain.ts';
import { AnchorContradicted, type AnchoredHeads, confirmationOf } from './anchored-heads.ts';
import {
  type AnchorerParts,
  type AnchorTrouble,
  advanceAnchor,
  type OpenAnchorer,
  recheck,
  type StepOutcome,
} from './anchorer.ts';

export interface AnchoringParts extends AnchorerParts {
  readonly chain: BaseChain;
  readonly anchors: AnchorChain;
  readonly heads: AnchoredHeads;
  readonly logger: Logger;
  /** Whether the log is sound. A log that is not sound is not anchored. */
  readonly log: { readonly sound: boolean };
  /** Pause between two rounds and between two steps. Steps have a shorter pause while a transaction is open. */
  readonly poll_ms: number;
  readonly onEnd?: (outcome: 'done' | 'failed') => void;
  /** Called with a final head on Base that the log does not extend, to halt all processes. */
  readonly onContradiction?: (head: TreeHeadFacts) => Promise<void>;
}

/** Time limit of the search in one round. The next round continues the search. */
export const SEARCH_MS_MAX = 10_000;
const UNDER_WAY_POLL_MS = 1_000;
/** Number of heads that are proven at a start: a day's anchors, at one an hour. */
export const HEADS_MAX_AT_START = 24;
/** Number of heads that are proven in each later round, between which hardly more than one new anchor appears. */
const HEADS_MAX = 4;

const CHECK_NODE = 'If this goes on, check the node at BASE_RPC_URL.';
const remedies: Readonly<Record<AnchorTrouble, string>> = {
  chain_unavailable: CHECK_NODE,
  unfunded: 'Send ETH on Base to the sender.',
  fee_too_high: 'Raise ANCHOR_FEE_DAY_MAX, or wait for lower fees.',
  not_mined: CHECK_NODE,
  void: CHECK_NODE,
};

/**
 * Proves in each round, in every process, that the log extends the heads on Base, whichever process has sent them. One process anchors the
 * log's head on schedule.
 * After a contradiction nothing is anchored, and the log counts as unsound in this process. The other processes are halted only once the
 * contradiction is confirmed. It is withdrawn if Base turns out not to have that head.
 */
export class Anchoring {
  readonly #parts: AnchoringParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #turn: Promise<unknown> = Promise.resolve();
  #chain_epoch: number | null = null;
  #proven = false;
  #contradiction: AnchorContradicted | null = null;
  #confirmed = false;
  #trouble: AnchorTrouble | null = null;
  #newest: (AnchoredHead & { readonly at: string | null }) | null = null;

  constructor(parts: AnchoringParts) {
    this.#parts = parts;
  }

  /** False from the first contradiction until it is withdrawn. */
  get sound(): boolean {
    return this.#contradiction === null;
  }

  get poll_ms(): number {
    return this.#parts.poll_ms;
  }

  get trouble(): AnchorTrouble | null {
    return this.#trouble;
  }

  /** Members of `/health`: what a reader needs to find the anchor without this service. */
  get shown(): JsonObject {
    const { tree_size, block_number, at } = this.#newest ?? {};
    return {
      last_anchored_root: this.#newest?.root_hash ?? null,
      last_anchored_tx: this.#newest?.tx_hash ?? null,
      anchor: {
        tree_size: tree_size ?? null,
        block_number: block_number ?? null,
        at: at ?? null,
        contract: LOG_ANCHOR,
        sender: this.#parts.key.address,
        trouble: this.#trouble,
      },
    };
  }

  /** Sets the keys by which declared breaks are verified: all keys ever published. */
  trust(jwks: JsonObject): void {
    this.#parts.heads.trust(jwks);
  }

  /**
   * Proves that the log extends the heads on Base. @throws AnchorContradicted; also if the chain cannot answer in time, and then nothing is
   * known
   */
  async prove(): Promise<void> {
    const { database, heads, key } = this.#parts;
    await heads.look(performance.now() + SEARCH_MS_MAX);
    const proven = await proveHeads(database, heads.binding(this.#proven ? HEADS_MAX : HEADS_MAX_AT_START));
    this.#proven = true;
    if (proven.kind === 'broken') {
      this.#contradiction = new AnchorContradicted(proven, key.address);
      throw this.#contradiction;
    }
    await this.#show(heads.newest);
  }

  /** Runs one round: proves, and then takes one step of anchoring. @throws the errors of `prove`, and if the database is unreachable */
  async round(chain_epoch: number, on_demand = false): Promise<StepOutcome> {
    await this.prove();
    const { chain, database, heads, key } = this.#parts;
    const anchorer: OpenAnchorer = { ...this.#parts, place: { chain_epoch, sender: key.address } };
    for (const tx_hash of await recheck(anchorer, chain)) heads.forget(tx_hash);
    const moved = await advanceAnchor(anchorer, await findExtendingHead(database, heads.newest), on_demand);
    if (moved.kind === 'anchored') await this.prove();
    return moved;
  }

  /** Starts proving on a timer. Anchoring is triggered by `anchor`. */
  start(chain_epoch: number): void {
    this.#chain_epoch = chain_epoch;
    this.#running = this.#run();
  }

  /** Takes one step of anchoring for all processes. Returns the pause after it. @throws if the database is unreachable */
  async anchor(): Promise<{ readonly rest_ms: number }> {
    const { log, poll_ms } = this.#parts;
    const chain_epoch = this.#chain_epoch;
    if (chain_epoch === null) return { rest_ms: poll_ms };
    const moved = await this.#inTurn(async () => (log.sound && this.sound ? this.#moved(chain_epoch) : null));
    const under_way = moved?.kind === 'sent' || moved?.kind === 'deployed';
    return { rest_ms: under_way ? Math.min(UNDER_WAY_POLL_MS, poll_ms) : poll_ms };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { onEnd, log, poll_ms } = this.#parts;
    while (!signal.aborted && !this.#confirmed) {
      if (log.sound || !this.sound) {
        const proved = await this.#inTurn(() => this.#proved());
        onEnd?.(proved ? 'done' : 'failed');
      }
      await sleep(poll_ms, null, { signal, ref: false }).catch(() => {});
    }
  }

  /** Runs work one after another that uses what this process has read from the chain. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #proved(): Promise<boolean> {
    try {
      if (this.#contradiction && !(await this.#withdrawn(this.#contradiction))) return false;
      await this.prove();
      if (this.#trouble === 'chain_unavailable') this.#note(null, {});
      return true;
    } catch (error) {
      if (!this.#met(error))
        this.#parts.logger.warn(
          { err: error },
          'the anchors of the log on Base could not be checked because of the error in err; the next round tries again',
        );
      return false;
    }
  }

  async #moved(chain_epoch: number): Promise<StepOutcome | null> {
    try {
      const moved = await this.round(chain_epoch);
      this.#note(moved.kind === 'trouble' ? moved.trouble : null, moved);
      return moved;
    } catch (error) {
      if (this.#met(error)) return null;
      throw error;
    }
  }

  /** Handles errors that have a separate log message. False for other errors. */
  #met(error: unknown): boolean {
    if (error instanceof AnchorContradicted) this.#close(error);
    else if (error instanceof ChainAway) this.#note('chain_unavailable', { err: error });
    else return false;
    return true;
  }

  #close(error: AnchorContradicted): void {
    const until =
      'This process accepts no payments while Base is asked again; if the head is confirmed, all processes are halted';
    this.#parts.logger.fatal({ err: error }, `${error.message}. ${until}.`);
  }

  /**
   * Checks a contradiction again, in a later round than the one that found it. True if it is withdrawn. While it is neither confirmed nor
   * withdrawn, this process accepts no payments.
   */
  async #withdrawn(contradiction: AnchorContradicted): Promise<boolean> {
    const { heads, key, logger } = this.#parts;
    const { head } = contradiction;
    const parts = { ...this.#parts, sender: key.address };
    const confirmation = await confirmationOf(parts, head, performance.now() + SEARCH_MS_MAX);
    if (confirmation === 'final') await this.#confirm(contradiction);
    if (confirmation !== 'absent') return false;
    heads.withdraw(head);
    // As many heads are proven as at a start before payments are accepted again.
    this.#proven = false;
    await this.prove();
    this.#contradiction = null;
    logger.warn(
      { head },
      'the node had reported an anchored tree head of the log that is not on Base; the log was proven again, and this process accepts payments again; if this recurs, check the node',
    );
    return true;
  }

  async #confirm({ head, message }: AnchorContradicted): Promise<void> {
    const { onContradiction, database, logger } = this.#parts;
    // A database that was unavailable may be complete again. What was written meanwhile can only be proven by a start.
    if ((await proveHeads(database, [head])).kind !== 'broken') return;
    this.#confirmed = true;
    logger.fatal({ head }, `${message}. The head is final on Base. No more payments are accepted.`);
    const { log_id, tree_size, root_hash } = head;
    await onContradiction?.({ log_id, tree_size, root_hash }).catch(fault =>
      logger.warn({ err: fault }, 'the halt of the log could not be written to the database yet; it is tried again'),
    );
  }

  /** Logs a change of the trouble once, and not in each round. */
  #note(trouble: AnchorTrouble | null, facts: object): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    const { key, logger } = this.#parts;
    if (trouble === null) logger.info('tree heads of the log are anchored on Base again');
    else
      logger.warn(
        { ...facts, sender: key.address },
        `no tree head of the log can be anchored on Base now (${trouble}); the next round tries again. ${remedies[trouble]}`,
      );
  }

  async #show(newest: AnchoredHead | null): Promise<void> {
    if (newest?.tx_hash === this.#newest?.tx_hash) return;
    const block = newest && (await this.#parts.chain.block(newest.block_number));
    const seconds = block?.kind === 'ok' ? block.value?.timestamp_seconds : undefined;
    this.#newest = newest && { ...newest, at: seconds === undefined ? null : iso(seconds * 1_000) };
    // Another process has anchored, so the trouble of this one is over.
    if (this.#newest) this.#note(null, {});
  }
}
