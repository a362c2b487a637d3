import type { FreeUse, Port, RateTurn } from '../../rest-compat/port.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { Refusal } from '../../schema/errors.ts';
import { isKeysSignature } from '../../schema/session/public-key.ts';
import type { FailedLooks, LookRest } from '../../subgraphs/book/ingest/failed-looks.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import { signedHere } from '../../subgraphs/signed-here.ts';
import type { FreeWalletProofs, WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import type { RateName, RateSettings } from '../config/rates.ts';
import { Meter, type MeterTurn, rateHeaders, roomHeaders } from './rate.ts';

/** Who is counted: an address stands for its holder, a payer for no one else. */
export interface Rates {
  /** By address: what is asked for that nobody pays for. */
  readonly free: Meter;
  /** By address: sessions, proofs and keys that are nobody's. */
  readonly credentials: Meter;
  /** By address: payments that prove no payer. */
  readonly unproven: Meter;
  /** By payer and by address: paid calls that came to nothing by their callers' doing. */
  readonly uncharged: Meter;
  /** By payer and by agent: payments to others that their chain does not show. */
  readonly ingests: Meter;
  /** By address: bodies on their way that nobody has paid for. */
  readonly bodies: Room;
}

export function openRates(settings: RateSettings, clock: Clock): Rates {
  const meter = (name: RateName) => new Meter(settings[name], clock);
  return {
    free: meter('free'),
    credentials: meter('credentials'),
    unproven: meter('unproven'),
    uncharged: meter('uncharged'),
    ingests: meter('ingests'),
    bodies: new Room(settings.bodies_bytes_max),
  };
}

/** Bytes that are on their way from each caller: how many at once, not how many in a time. */
export class Room {
  readonly bytes_max: number;
  readonly #held = new Map<string, number>();

  constructor(bytes_max: number) {
    this.bytes_max = bytes_max;
  }

  /** Null where there is no room for as many; or else what gives it back. One request alone always has room. */
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

/** Of all for whom a look is counted, in this process's memory: the longest rest of any of them. */
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
    failed(who) {
      for (const caller of who) meter.take(caller);
    },
  };
}

/** The rates of what nobody pays for, by address, as doors, graph and sockets ask for them. */
export function openFreeUses(rates: Rates): Port['rates'] {
  const told = (use: FreeUse, turn: MeterTurn): RateTurn => ({
    ...turn,
    headers: rateHeaders(use, rates[use].rate, turn),
  });
  return {
    take: (use, address) => told(use, rates[use].take(holderOf(address))),
    look: (use, address) => told(use, rates[use].look(holderOf(address))),
    giveBack: (use, address) => rates[use].giveBack(holderOf(address)),
    hold: (address, bytes) => rates.bodies.hold(holderOf(address), bytes),
    crowded: roomHeaders('bodies', rates.bodies.bytes_max),
  };
}

/** The same where an answer is thrown. @throws rate_limited */
export function requireWithin(turn: RateTurn): void {
  if (turn.kind === 'within') return;
  const { headers, retry_after_seconds } = turn;
  throw new Refusal('rate_limited', { facts: { retry_after_seconds, answer_headers: headers } });
}

/**
 * A turn is spent before the chain is asked, and given back unless the answer is that nobody has signed: one of the address, or of
 * the wallet itself where its own key has signed, so that wrong ones of a neighbour keep nobody from ending a session.
 */
export function openFreeWallets(
  wallets: WalletProofs,
  rates: Pick<Port['rates'], 'take' | 'giveBack'>,
): FreeWalletProofs {
  return {
    async verifies(wallet, digests, signature, asker) {
      const own = digests.find(digest => isKeysSignature(wallet, digest, signature));
      const holder = own ? wallet : asker;
      const turn = rates.take('unproven', holder);
      if (turn.kind === 'beyond')
        throw new Refusal('rate_limited', { facts: { retry_after_seconds: turn.retry_after_seconds } });
      const verdict = await signedHere(own ? [own] : digests, it => wallets.verifies(wallet, it, signature, asker));
      if (verdict !== 'invalid') rates.giveBack('unproven', holder);
      return verdict;
    },
  };
}
