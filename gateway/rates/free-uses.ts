import type { FreeUse, Port, RateTurn } from '../../rest-compat/port.ts';
import { holderOf } from '../../schema/address-holder.ts';
import { Refusal } from '../../schema/errors.ts';
import { rateHeaders, roomHeaders } from './headers.ts';
import type { MeterTurn } from './rate.ts';
import type { Rates } from './rates.ts';

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
