import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import type { Genesis } from './journal.ts';

/** Solana's own figures. */
const SLOT_MS = 400;
/** So that even at the beginning there is a final block. */
const FIRST_SLOT = 100;
/** A blockhash is good for so many blocks after its own. */
export const BLOCKHASH_AGE_MAX = 150;
/** A block is final when so many stand on it. */
const FINAL_AFTER = 32;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/**
 * Slots pass with the wall clock, also while nobody runs the chain, and every slot has a block: its hash comes from the
 * genesis and its number, so that nothing of it has to be kept.
 */
export function openClock(genesis: Genesis, now_ms: () => number) {
  let from = { slot: FIRST_SLOT, ms: genesis.started_ms };
  let slot_ms = SLOT_MS;
  let reached = 0;
  const slotAt = (ms: number) => from.slot + Math.max(0, Math.floor((ms - from.ms) / slot_ms));
  const slot = (): number => {
    // A wall clock that is set back does not take blocks away.
    reached = Math.max(reached, slotAt(now_ms()));
    return reached;
  };
  const blockhash = (of: number): string => hashOf(`${genesis.seed}:${of}`);
  return {
    genesis_hash: hashOf(genesis.seed),
    blockhash,
    skip(slots: number): void {
      from = { ...from, slot: from.slot + slots };
    },
    pace(ms_per_slot: number, at_ms: number): void {
      from = { slot: slotAt(at_ms), ms: at_ms };
      slot_ms = ms_per_slot;
    },
    slot: (commitment: Commitment = 'processed'): number =>
      commitment === 'finalized' ? Math.max(0, slot() - FINAL_AFTER) : slot(),
    /** Seconds since 1970 by the chain's own clock, which leaps where slots were skipped. */
    time: (of: number): number => Math.floor((genesis.started_ms + of * SLOT_MS) / 1000),
    isValid(hash: string): boolean {
      const now = slot();
      for (let age = 0; age <= BLOCKHASH_AGE_MAX && age <= now; age++) if (blockhash(now - age) === hash) return true;
      return false;
    },
  };
}

function hashOf(text: string): string {
  return getBase58Decoder().decode(createHash('sha256').update(text).digest());
}
