import type { Clock } from '../../subgraphs/clock.ts';
import type { RateName, RateSettings } from '../config/rates.ts';
import { Meter } from './meter.ts';
import { Room } from './room.ts';

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
