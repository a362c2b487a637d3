import type { FreeUse, Port, RateTurn } from '../../rest-compat/port.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { Refusal } from '../../schema/errors.ts';
import { isSignatureOfKey } from '../../schema/session/public-key.ts';
import type { FailedLooks, LookRest } from '../../subgraphs/book/ingest/failed-looks.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import { verifyForService } from '../../subgraphs/verify-for-service.ts';
import type { FreeWalletProofs, WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import type { RateName, RateSettings } from '../config/rates.ts';
import { Meter, type MeterTurn, rateHeaders, roomHeaders } from './rate.ts';

/** The meters. An address counts for its holder; a payer counts only for itself. */
export interface Rates {
  /** Free requests, by address. */
  readonly free: Meter;
  /** Invalid sessions, proofs and keys, by address. */
  readonly credentials: Meter;
  /** Payments that prove no payer, by address. */
  readonly unproven: Meter;
  /** Paid calls that failed because of their callers, by payer and by address. */
  readonly uncharged: Meter;
  /** Recorded payments to others that the chain does not show, by payer and by agent. */
  readonly ingests: Meter;
  /** Bytes of unpaid bodies in memory, by address. */
  readonly bodies: ByteQuota;
}

export function openRates(settings: RateSettings, clock: Clock): Rates {
  const meter = (name: RateName) => new Meter(settings[name], clock);
  return {
    free: meter('free'),
    credentials: meter('credentials'),
    unproven: meter('unproven'),
    uncharged: meter('uncharged'),
    ingests: meter('ingests'),
    bodies: new ByteQuota(settings.bodies_bytes_max),
  };
}

/** Limits the bytes in memory per caller at the same time, not per period. */
export class ByteQuota {
  readonly bytes_max: number;
  readonly #held = new Map<string, number>();

  constructor(bytes_max: number) {
    this.bytes_max = bytes_max;
  }

  /**
   * Reserves bytes. Returns a function that frees them, or null if the caller's quota is full. A request is never refused while the
   * caller has no other bytes reserved.
   */
  hold(caller: string, bytes: number): (() => void) | null {
    const held = this.#held.get(caller) ?? 0;
    if (held > 0 && held + bytes > this.bytes_max) return null;
    this.#held.set(caller, held + bytes);
    return () => {
      const left = (this.#held.get(caller) ?? 0) - bytes;
      if (left > 0) this.#held.set(caller, left);
      else this.#held.delete(caller);
    };
  }
}

/** Counts failed look-ups in this process's memory. `rest` returns the longest wait of all given callers, or null. */
export function openFailedLooks(meter: Meter): FailedLooks {
  return {
    rest(who) {
      const rests = who.flatMap((caller): LookRest[] => {
        const turn = meter.look(caller);
        if (turn.kind === 'within') return [];
        return [{ seconds: turn.retry_after_seconds, headers: rateHeaders('ingests', meter.rate, turn) }];
      });
      return rests.sort((one, other) => other.seconds - one.seconds)[0] ?? null;
    },
    countFailure(who) {
      for (const caller of who) meter.take(caller);
    },
  };
}

/** Rates of free requests by address, for endpoints, the graph and sockets. */
export function openFreeUses(rates: Rates): Port['rates'] {
  const withHeaders = (use: FreeUse, turn: MeterTurn): RateTurn => ({
    ...turn,
    headers: rateHeaders(use, rates[use].rate, turn),
  });
  return {
    take: (use, address) => withHeaders(use, rates[use].take(holderOf(address))),
    look: (use, address) => withHeaders(use, rates[use].look(holderOf(address))),
    giveBack: (use, address) => rates[use].giveBack(holderOf(address)),
    hold: (address, bytes) => rates.bodies.hold(holderOf(address), bytes),
    body_limit_headers: roomHeaders('bodies', rates.bodies.bytes_max),
  };
}

/** Checks a result that is reported by an exception. @throws rate_limited */
export function requireWithin(turn: RateTurn): void {
  if (turn.kind === 'within') return;
  const { headers, retry_after_seconds } = turn;
  throw new Refusal('rate_limited', { facts: { retry_after_seconds, answer_headers: headers } });
}

/**
 * Verifies signatures of wallets for free requests. A turn is taken before the chain is queried, and given back unless the
 * signature is invalid. It counts for the address, or for the wallet if the wallet's own key has signed, so that invalid signatures
 * of another client at the address do not prevent a wallet from ending its session.
 */
export function openFreeWallets(
  wallets: WalletProofs,
  rates: Pick<Port['rates'], 'take' | 'giveBack'>,
): FreeWalletProofs {
  return {
    async verifies(wallet, digests, signature, asker) {
      const own = digests.find(digest => isSignatureOfKey(wallet, digest, signature));
      const holder = own ? wallet : asker;
      const turn = rates.take('unproven', holder);
      if (turn.kind === 'beyond')
        throw new Refusal('rate_limited', { facts: { retry_after_seconds: turn.retry_after_seconds } });
      const verdict = await verifyForService(own ? [own] : digests, it =>
        wallets.verifies(wallet, it, signature, asker),
      );
      if (verdict !== 'invalid') rates.giveBack('unproven', holder);
      return verdict;
    },
  };
}
