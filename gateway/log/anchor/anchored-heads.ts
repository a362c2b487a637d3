import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database } from '../../../subgraphs/database.ts';
import {
  type DeclaredAnchor,
  declaredAnchors,
  type ProvenHeads,
} from '../../../subgraphs/receipt/log/anchored-head.ts';
import type { Hex } from '../../rails/base/abi.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { requireAnswer } from '../../rails/epoch.ts';
import { WAY_ON } from '../audit-log.ts';
import { type AnchorChain, type AnchoredHead, AnchorSearch, LOG_ANCHOR } from './anchor-chain.ts';

export interface AnchoredHeadsParts {
  readonly database: Database;
  readonly chain: Pick<BaseChain, 'block' | 'code' | 'transactionCount'>;
  readonly anchors: AnchorChain;
  readonly sender: Hex;
  /** Public keys of the issuer, by which declared breaks are verified. */
  readonly jwks: JsonObject;
}

/**
 * Number of blocks by which each search begins before the end of the last one, because a reorganisation may move an anchor to another
 * block.
 */
const REORG_BLOCKS_MAX = 64;

/**
 * Heads of the log that are anchored on Base with the key of this service. They are read from the chain, because the database's record of
 * them may have been rolled back together with the log.
 */
export class AnchoredHeads {
  readonly #parts: AnchoredHeadsParts;
  #jwks: JsonObject;
  #search: AnchorSearch | null = null;
  #searching_to = 0;
  /** Last block that was searched. Null until the newest anchor was searched for, down to the earliest possible block. */
  #searched_to: number | null = null;
  #heads: readonly AnchoredHead[] = [];
  #genesis_hash = '';

  constructor(parts: AnchoredHeadsParts) {
    this.#parts = parts;
    this.#jwks = parts.jwks;
  }

  /** Sets the keys by which declared breaks are verified. */
  trust(jwks: JsonObject): void {
    this.#jwks = jwks;
  }

  /** The last anchor in the order of the chain that the log must extend. Null if there is none, or none was found yet. */
  get newest(): AnchoredHead | null {
    return this.#heads.at(-1) ?? null;
  }

  /**
   * Heads that the log must extend. These are the newest ones, of which each was proven to extend the one before it when it was sent, and
   * the largest, in case a holder of the key sent them out of order.
   */
  binding(newest_max: number): readonly AnchoredHead[] {
    const newest = this.#heads.slice(-newest_max);
    const largest = this.#heads.reduce<AnchoredHead | null>(
      (most, head) => (most === null || head.tree_size > most.tree_size ? head : most),
      null,
    );
    return largest === null || newest.includes(largest) ? newest : [largest, ...newest];
  }

  /** The newest anchor in the form in which a declared break names it. Null if there is none. */
  declared(): DeclaredAnchor | null {
    const { newest } = this;
    if (newest === null) return null;
    const { tree_size, root_hash, tx_hash, block_number } = newest;
    return {
      tree_size,
      root_hash,
      sender: this.#parts.sender,
      tx_hash,
      block_number,
      genesis_hash: this.#genesis_hash,
    };
  }

  /**
   * Reads the anchors that are newer than the last look. The first look goes back until it finds one. @throws if the chain cannot answer in
   * time; the next look then continues from there
   */
  async look(until_ms: number): Promise<void> {
    const head = requireAnswer(await this.#parts.anchors.head());
    const found = this.#searched_to === null ? await this.#first(head, until_ms) : await this.#more(head, until_ms);
    this.#heads = await this.#unpassed(found);
  }

  /** Removes an anchor whose block was replaced by a block without it. */
  forget(tx_hash: string): void {
    this.#heads = this.#heads.filter(head => head.tx_hash !== tx_hash);
  }

  /** Removes a head that is not on Base after all. Only this head is removed, because its transaction may have anchored another one. */
  withdraw(head: AnchoredHead): void {
    this.#heads = this.#heads.filter(each => !isSameAnchor(each, head));
  }

  async #first(head: number, until_ms: number): Promise<readonly AnchoredHead[]> {
    const { anchors, chain, sender } = this.#parts;
    this.#genesis_hash = requireAnswer(await chain.block(0))?.hash ?? '';
    if (this.#search === null && (await this.#neverSent())) {
      this.#searched_to = head;
      return [];
    }
    if (this.#search === null) {
      this.#search = new AnchorSearch(anchors, sender, { from_block: 0, to_block: head, wanted: 'newest' });
      this.#searching_to = head;
    }
    const found = requireAnswer(await this.#search.run(until_ms));
    this.#searched_to = this.#searching_to;
    return found;
  }

  /**
   * Whether nothing can be anchored, because the contract does not exist or the key has never sent a transaction. No search is needed then.
   */
  async #neverSent(): Promise<boolean> {
    const { chain, sender } = this.#parts;
    const [code, count] = await Promise.all([chain.code(LOG_ANCHOR), chain.transactionCount(sender, 'latest')]);
    return requireAnswer(code) === '0x' || requireAnswer(count) === 0;
  }

  async #more(head: number, until_ms: number): Promise<readonly AnchoredHead[]> {
    const { anchors, sender } = this.#parts;
    const from_block = Math.max(0, Math.min(this.#searched_to ?? 0, head) - REORG_BLOCKS_MAX);
    const search = new AnchorSearch(anchors, sender, { from_block, to_block: head, wanted: 'all' });
    const found = requireAnswer(await search.run(until_ms));
    this.#searched_to = head;
    const known = this.#heads.filter(({ block_number }) => block_number < from_block);
    return [...known, ...found].slice(-HEADS_KEPT_MAX);
  }

  async #unpassed(heads: readonly AnchoredHead[]): Promise<readonly AnchoredHead[]> {
    const { database, sender } = this.#parts;
    if (heads.length === 0) return heads;
    const ours = (await declaredAnchors(database, this.#jwks)).filter(
      declared => declared.sender === sender && declared.genesis_hash === this.#genesis_hash,
    );
    const passed = (head: AnchoredHead) =>
      ours.some(({ tx_hash, block_number }) => head.block_number <= block_number || head.tx_hash === tx_hash);
    return heads.filter(head => !passed(head));
  }
}

/** Whether both are the same anchor. The block is not compared, because a reorganisation may have moved the anchor. */
function isSameAnchor(one: AnchoredHead, other: AnchoredHead): boolean {
  return one.tx_hash === other.tx_hash && one.tree_size === other.tree_size && one.root_hash === other.root_hash;
}

/** Number of heads that one process keeps. With one anchor an hour, they are those of more than a month. */
const HEADS_KEPT_MAX = 1_000;

/**
 * Result of a second check of a head. `final`: both the transaction's receipt and a new search show the head. `absent`: neither does, and
 * no block can be replaced any longer. `open`: it is too early, or the two disagree.
 */
export type Confirmation = 'final' | 'absent' | 'open';

interface ConfirmationParts {
  readonly anchors: AnchorChain;
  readonly chain: Pick<BaseChain, 'block'>;
  readonly sender: Hex;
}

/**
 * Checks a head by other requests than the one that showed it. Both results count only once the block is final: several nodes may answer at
 * one URL, and a node that lags does not have the block yet. @throws ChainAway
 */
export async function confirmationOf(
  { anchors, chain, sender }: ConfirmationParts,
  head: AnchoredHead,
  until_ms: number,
): Promise<Confirmation> {
  const newest = requireAnswer(await anchors.head());
  const final = requireAnswer(await chain.block('finalized'))?.number ?? -1;
  const receipt = requireAnswer(await anchors.receipt(head.tx_hash, sender));
  const shown = receipt?.anchored.some(each => isSameAnchor(each, head)) === true;
  const block_number = shown ? receipt.block_number : head.block_number;
  if (block_number > Math.min(final, newest)) return 'open';

  const from_block = Math.max(0, block_number - REORG_BLOCKS_MAX);
  const to_block = Math.min(newest, block_number + REORG_BLOCKS_MAX);
  const search = new AnchorSearch(anchors, sender, { from_block, to_block, wanted: 'all' });
  const found = requireAnswer(await search.run(until_ms)).some(each => isSameAnchor(each, head));
  if (shown !== found) return 'open';
  return shown ? 'final' : 'absent';
}

type BrokenHeads = Extract<ProvenHeads<AnchoredHead>, { kind: 'broken' }>;

/** The log in the database does not extend the head that is anchored on Base. */
export class AnchorContradicted extends Error {
  override name = 'AnchorContradicted';
  /** The head on Base, as the node has reported it. */
  readonly head: AnchoredHead;

  constructor({ head, integrity }: BrokenHeads, sender: string) {
    const { kind, found } = integrity;
    const broken = kind === 'contradictory' ? 'the log contradicts itself' : `the log is ${kind}`;
    const both = `${headSentence(head, sender)}; the database has size ${found.tree_size}, root ${found.root_hash}`;
    super(`${broken}: ${both}. If another service sent that anchor, replace ANCHOR_KEY as well. ${WAY_ON}`);
    this.head = head;
  }
}

function headSentence({ tree_size, root_hash, tx_hash }: AnchoredHead, sender: string): string {
  return `the head anchored on Base by ${sender} has size ${tree_size}, root ${root_hash} (transaction ${tx_hash})`;
}

/**
 * Sentence about the newest anchored head, for a start that is refused for another reason. It is the last head that is known to be signed.
 */
export async function anchoredSentence(heads: AnchoredHeads, sender: string, until_ms: number): Promise<string> {
  try {
    await heads.look(until_ms);
  } catch (cause) {
    return `the anchors of ${sender} on Base could not be read (${causeOf(cause)})`;
  }
  return heads.newest ? headSentence(heads.newest, sender) : `nothing is anchored on Base by ${sender}`;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
