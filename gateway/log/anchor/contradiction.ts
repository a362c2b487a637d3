import { type ProvenHeads } from '../../../subgraphs/receipt/log/anchored-head.ts';
import { WAY_ON } from '../audit-log.ts';
import type { Anchored } from './anchor-chain.ts';
import type { AnchoredHeads } from './anchored-heads.ts';

type Broken = Extract<ProvenHeads<Anchored>, { kind: 'broken' }>;

/** The database does not hold the log whose head stands on Base. */
export class AnchorContradicted extends Error {
  override name = 'AnchorContradicted';
  /** What stands on Base, by the answer that showed it. */
  readonly head: Anchored;

  constructor({ head, integrity }: Broken, sender: string) {
    const { kind, found } = integrity;
    const broken = kind === 'contradictory' ? 'the log contradicts itself' : `the log is ${kind}`;
    const both = `${headSentence(head, sender)}; the database has size ${found.tree_size}, root ${found.root_hash}`;
    super(`${broken}: ${both}. Was it not this service that sent it, change ANCHOR_KEY as well. ${WAY_ON}`);
    this.head = head;
  }
}

function headSentence({ tree_size, root_hash, tx_hash }: Anchored, sender: string): string {
  return `anchored on Base by ${sender} is size ${tree_size}, root ${root_hash} (transaction ${tx_hash})`;
}

/** What stands on Base, for whoever is refused for another reason: it is the last that is known of what was signed. */
export async function anchoredSentence(heads: AnchoredHeads, sender: string, until_ms: number): Promise<string> {
  try {
    await heads.look(until_ms);
  } catch (cause) {
    return `what is anchored on Base by ${sender} could not be had (${causeOf(cause)})`;
  }
  return heads.newest ? headSentence(heads.newest, sender) : `nothing is anchored on Base by ${sender}`;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
