import { sessionLimits } from '../limits.ts';
import { endpointName, grantableEndpoints } from '../paid-operations.ts';
import { AUTO_MODEL } from '../route-words.ts';
import type { SessionStatus } from './delegated-session.ts';
import type { Grant } from './grant.ts';
import { ZERO_HASH } from './typed-data.ts';

/* What a grant allows, and what a session may hand on: pure rules. */

export type GrantStanding =
  | { readonly kind: 'in_force' }
  | { readonly kind: 'not_begun' }
  | { readonly kind: 'expired' }
  /** It ends too soon for what a payment buys to be recorded while it lasts. */
  | { readonly kind: 'ending' };

type Life = Pick<Grant, 'validAfter' | 'sessionExpiry'>;

export function hasParent({ parentDelegationHash }: Pick<Grant, 'parentDelegationHash'>): boolean {
  return parentDelegationHash !== ZERO_HASH;
}

/** Why a grant is refused, as read behind "The grant is not accepted:". */
export const SIBLINGS_FULL = `its parent session already has ${sessionLimits.children_max.toLocaleString('en-US')} child sessions that have neither expired nor been revoked`;

/** Whether a payment may be begun under it. */
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

/** The first name in a grant's `doors` that no paid endpoint has; null where there is none. */
export function unknownDoor({ doors }: Pick<Grant, 'doors'>): string | null {
  return doors.find(door => !endpoints.has(door)) ?? null;
}

export type Soundness =
  | { readonly kind: 'sound' }
  | { readonly kind: 'unsound'; readonly member: keyof Grant; readonly why: string };

/** What can be said of a grant by itself. */
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

/** An empty list allows any, and so is within no list that names some. */
function within(child: readonly string[], parent: readonly string[]): boolean {
  if (parent.length === 0) return true;
  return child.length > 0 && child.every(name => parent.includes(name));
}

const narrows: Readonly<Record<keyof Bounds, (child: Bounds, parent: Bounds) => boolean>> = {
  capAtomic: (child, parent) => BigInt(child.capAtomic) <= BigInt(parent.capAtomic),
  validAfter: (child, parent) => child.validAfter >= parent.validAfter,
  sessionExpiry: (child, parent) => child.sessionExpiry <= parent.sessionExpiry,
  models: (child, parent) => within(child.models, parent.models),
  // One that was bound before endpoints had one name each may name them otherwise.
  doors: (child, parent) => within(child.doors, parent.doors.map(endpointName)),
};

/** A child is allowed nothing that its parent is not. */
export function narrowingOf(child: Bounds, parent: Bounds): Narrowing {
  for (const [member, holds] of Object.entries(narrows))
    if (!holds(child, parent)) return { kind: 'wider', member: member as keyof Bounds };
  return { kind: 'narrower' };
}

/** A call as its grant judges it. */
export interface GrantedCall {
  /** Ids of the models one of which will answer; empty where none is involved. */
  readonly models: readonly string[];
  /** Ids of those that svc/auto may choose among for it. */
  readonly auto_models: readonly string[];
  /** Every name of the paid endpoint, those that it had before too. */
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

/** Ids of the models that a grant allows; null: any. svc/auto stands for whatever that may choose for the call. */
function grantedModels(models: readonly string[], auto_models: readonly string[]): readonly string[] | null {
  if (models.length === 0) return null;
  return models.flatMap(model => (model === AUTO_MODEL ? auto_models : [model]));
}

/** The models that may answer a call by a grant and by what else allows some alone; null where neither says so. */
export function modelsWithin(
  { models }: Pick<Grant, 'models'>,
  auto_models: readonly string[],
  allowed: readonly string[] | null,
): readonly string[] | null {
  const granted = grantedModels(models, auto_models);
  if (granted === null) return allowed;
  return allowed === null ? granted : granted.filter(model => allowed.includes(model));
}
