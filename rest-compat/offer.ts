import type { ErrorCode } from '../schema/errors.ts';
import type { Door } from './door.ts';
import { type DoorRequest, pathOf } from './door-request.ts';
import { schemasOf } from './door-schemas.ts';
import type { Challenge, Port, Price } from './port.ts';
import { type Answer, problem } from './problem.ts';

/** Absolute: x402 v1 and v2 both name it. */
export function resourceOf(door: Door, { params }: Pick<DoorRequest, 'params'>, { base_url }: Port): string {
  return base_url + pathOf(door, params);
}

/** What a door asks for at its absolute URL; null where it is free. */
export function priceOf(door: Door, resource: string): Price | null {
  const { price, summary } = door;
  return price && { ...price, resource, description: summary, output_schema: schemasOf(door).in_short };
}

/** Why a payment or key in hand did not do. */
export interface OfferReason {
  readonly code: ErrorCode;
  readonly detail?: string;
}

/** The door's 402; `own` is one that only the resolver could make. */
export function offer(
  door: Door,
  request: Pick<DoorRequest, 'params'>,
  port: Port,
  reason: OfferReason | null,
  own?: Challenge,
): Answer {
  const price = priceOf(door, resourceOf(door, request, port));
  if (!own && !price) return problem({ code: reason?.code ?? 'payment_required', message: reason?.detail });
  const challenge = own ?? (price && port.challenge(price, reason));
  return {
    status: 402,
    headers: { ...challenge?.headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: challenge ? textOf(challenge) : '{}',
  };
}

const texts = new WeakMap<Challenge, string>();

/** The same challenge goes out to all who ask for the same. */
function textOf(challenge: Challenge): string {
  const text = texts.get(challenge) ?? JSON.stringify(challenge.body);
  texts.set(challenge, text);
  return text;
}
