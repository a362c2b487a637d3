import { sessionLimits } from '../limits.ts';
import { endpointName, grantableEndpoints } from '../paid-operations.ts';
import { AUTO_MODEL } from '../route-words.ts';
import type { SessionStatus } from './delegated-session.ts';
import type { Grant } from './grant.ts';
import { ZERO_HASH } from './typed-data.ts';

/* What a grant allows, and what a session can delegate. Pure rules. */

export type GrantStanding =
  | { readonly kind: 'in_force' }
  | { readonly kind: 'not_begun' }
  | { readonly kind: 'expired' }
  /** It expires too soon to record what a payment buys. */
  | { readonly kind: 'ending' };

type Life = Pick<Grant, 'validAfter' | 'sessionExpiry'>;

export function hasParent({ parentDelegationHash }: Pick<Grant, 'parentDelegationHash'>): boolean {
  return parentDelegationHash !== ZERO_HASH;
}

/** Reason for a refused grant, shown after "The grant is not accepted:". */
export const SIBLINGS_FULL = `its parent session already has ${sessionLimits.children_max.toLocaleString('en-US')} child sessions that have neither expired nor been revoked`;

/** Whether a payment can be started under the grant. */
export function grantStanding({ validAfter, sessionExpiry }: Life, now_seconds: number): GrantStanding {
  if (now_seconds < validAfter) return { kind: 'not_begun' };
  if (now_seconds >= sessionExpiry) return { kind: 'expired' };
  return { kind: sessionExpiry - now_seconds < sessionLimits.last_call_seconds ? 'ending' : 'in_force' };
}

export function statusOf({ sessionExpiry }: Pick<Life, 'sessionExpiry'>, revoked: boolean, now_seconds: number) {
  if (revoked) return 'revoked' satisfies SessionStatus;
  return (now_seconds >= sessionExpiry ? 'expired' : 'active') satisfies SessionStatus;
}

const endpoints: ReadonlySet<string> = new Set(grantableEndpoints.map(({ name }) => name));

/** First name in `doors` that no paid endpoint has. Null if there is none. */
export function unknownDoor({ doors }: Pick<Grant, 'doors'>): string | null {
  return doors.find(door => !endpoints.has(door)) ?? null;
}

export type Soundness =
  | { readonly kind: 'sound' }
  | { readonly kind: 'unsound'; readonly member: keyof Grant; readonly why: string };

/** Checks of a grant that need nothing else. */
export function soundnessOf({ validAfter, sessionExpiry }: Life): Soundness {
  if (sessionExpiry <= validAfter)
    return { kind: 'unsound', member: 'sessionExpiry', why: 'must be later than validAfter' };
  if (sessionExpiry - validAfter > sessionLimits.life_seconds_max)
    return {
      kind: 'unsound',
      member: 'sessionExpiry',
      why: `must be at most ${sessionLimits.life_seconds_max} seconds after validAfter`,
    };
  return { kind: 'sound' };
}

type Bounds = Pick<Grant, 'capAtomic' | 'validAfter' | 'sessionExpiry' | 'models' | 'doors'>;

export type Narrowing = { readonly kind: 'narrower' } | { readonly kind: 'wider'; readonly member: keyof Bounds };

/** An empty list allows everything, so it is not within a list with names. */
function within(child: readonly string[], parent: readonly string[]): boolean {
  if (parent.length === 0) return true;
  return child.length > 0 && child.every(name => parent.includes(name));
}

const narrows: Readonly<Record<keyof Bounds, (child: Bounds, parent: Bounds) => boolean>> = {
  capAtomic: (child, parent) => BigInt(child.capAtomic) <= BigInt(parent.capAtomic),
  validAfter: (child, parent) => child.validAfter >= parent.validAfter,
  sessionExpiry: (child, parent) => child.sessionExpiry <= parent.sessionExpiry,
  models: (child, parent) => within(child.models, parent.models),
  // A parent bound before endpoints had one name each may use other names.
  doors: (child, parent) => within(child.doors, parent.doors.map(endpointName)),
};

/** A child may not exceed its parent in any bound. */
export function narrowingOf(child: Bounds, parent: Bounds): Narrowing {
  for (const [member, holds] of Object.entries(narrows))
    if (!holds(child, parent)) return { kind: 'wider', member: member as keyof Bounds };
  return { kind: 'narrower' };
}

/** A call as a grant sees it. */
export interface GrantedCall {
  /** Ids of the candidate models. Empty if no model is involved. */
  readonly models: readonly string[];
  /** Ids of the models that svc/auto may choose for the call. */
  readonly auto_models: readonly string[];
  /** All names of the paid endpoint, including former ones. */
  readonly doors: readonly string[];
}

export type Permission =
  | { readonly kind: 'permitted' }
  | { readonly kind: 'model_not_granted' }
  | { readonly kind: 'door_not_granted' };

export function permissionOf({ models, doors }: Pick<Grant, 'models' | 'doors'>, call: GrantedCall): Permission {
  if (doors.length > 0 && !call.doors.some(door => doors.includes(door))) return { kind: 'door_not_granted' };
  const granted = grantedModels(models, call.auto_models);
  const answers = granted === null || call.models.length === 0 || call.models.some(model => granted.includes(model));
  return { kind: answers ? 'permitted' : 'model_not_granted' };
}

/** Ids of the models that a grant allows. Null: any. svc/auto means every model that it may choose for the call. */
function grantedModels(models: readonly string[], auto_models: readonly string[]): readonly string[] | null {
  if (models.length === 0) return null;
  return models.flatMap(model => (model === AUTO_MODEL ? auto_models : [model]));
}

/** Models allowed by a grant and by another restriction together. Null if neither restricts them. */
export function modelsWithin(
  { models }: Pick<Grant, 'models'>,
  auto_models: readonly string[],
  allowed: readonly string[] | null,
): readonly string[] | null {
  const granted = grantedModels(models, auto_models);
  if (granted === null) return allowed;
  return allowed === null ? granted : granted.filter(model => allowed.includes(model));
}
