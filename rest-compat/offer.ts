import type { ErrorCode } from '../schema/errors.ts';
import type { CallDescription } from './call-description.ts';
import type { Door } from './door.ts';
import type { DoorRequest } from './door-request.ts';
import { schemasOf } from './door-schemas.ts';
import { briefBazaars } from './faces/bazaar.ts';
import type { Challenge, Port, Price } from './port.ts';
import { type Answer, problem } from './problem.ts';

/** The path with its parameters, without aliases, so that one write has one name. */
export function pathOf(door: { readonly path: string }, params: DoorRequest['params']): string {
  return door.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** An absolute URL, which x402 v1 and v2 both require. */
export function resourceOf(door: Door, { params }: Pick<DoorRequest, 'params'>, { base_url }: Port): string {
  return base_url + pathOf(door, params);
}

/** The price of an endpoint at its absolute URL. Null if it is free or depends on the request. */
export function priceOf(door: Door, resource: string): Price | null {
  const known = prices.get(door);
  if (known?.resource === resource) return known;
  const { price, summary } = door;
  if (price === null || price.amount_atomic === null) return null;
  const { amount_atomic } = price;
  const computed = { ...price, amount_atomic, resource, description: summary, call_description: describeCall(door) };
  prices.set(door, computed);
  return computed;
}

const describeCall = (door: Door): CallDescription => ({
  output_schema: schemasOf(door).in_short,
  bazaars: briefBazaars(door),
});

/** The last price of each endpoint, because most have one URL, which thousands of calls a second request. */
const prices = new WeakMap<Door, Price>();

/** Why a payment or key was not accepted. */
export interface OfferReason {
  readonly code: ErrorCode;
  readonly detail?: string;
}

/** The 402 of an endpoint. `own`: a challenge by the resolver. */
export function offer(
  door: Door,
  request: Pick<DoorRequest, 'params'>,
  port: Port,
  reason: OfferReason | null,
  own?: ChallengeContent,
): Answer {
  const price = priceOf(door, resourceOf(door, request, port));
  if (!own && !price) return problem({ code: reason?.code ?? 'payment_required', message: reason?.detail });
  const challenge = own ? port.describe(own, describeCall(door)) : price && port.challenge(price, reason);
  return {
    status: 402,
    headers: { ...challenge?.headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: challenge ? textOf(challenge) : '{}',
  };
}

type ChallengeContent = Pick<Challenge, 'headers' | 'body'>;

const texts = new WeakMap<ChallengeContent, string>();

/** Challenges are shared objects, so the text of each is made once. */
function textOf(challenge: ChallengeContent): string {
  const text = texts.get(challenge) ?? JSON.stringify(challenge.body);
  texts.set(challenge, text);
  return text;
}
