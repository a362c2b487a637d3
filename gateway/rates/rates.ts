import type { Clock } from '../../subgraphs/clock.ts';
import { holderOf } from '../operations/floods.ts';
import { Meter } from './meter.ts';
import type { Rate } from './rate.ts';
import { Room } from './room.ts';

/** What is bounded, by name: the name stands in the policy's header and in the variable that sets it. */
const rateNames = ['free', 'credentials', 'unproven', 'uncharged'] as const;
export type RateName = (typeof rateNames)[number];

export type RateSettings = Readonly<Record<RateName, Rate>> & {
  /** Bytes of bodies that are on their way from one address at once. */
  readonly bodies_bytes_max: number;
};

/** Who is counted: an address stands for its holder, a payer for himself. */
export interface Rates {
  /** By address: what is asked for that nobody pays for. */
  readonly free: Meter;
  /** By address: sessions, proofs and keys that are nobody's. */
  readonly credentials: Meter;
  /** By address: payments that prove no payer. */
  readonly unproven: Meter;
  /** By payer and by address: paid calls that came to nothing by their callers' doing. */
  readonly uncharged: Meter;
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
    bodies: new Room(settings.bodies_bytes_max),
  };
}

/** As whom an address is counted. */
export const callerAt = holderOf;
