import { canonicalHash, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import type { ReleaseCheck } from './checks.ts';
import type { MoveJudgement } from './machine.ts';

/** A phase as it is stored. The phases of an escrow, in order, determine its state. */
export interface Phase<S extends string, A extends string> {
  /** Null for an expiry. */
  readonly action: A | null;
  readonly state: S;
  /** ISO 8601, by the clock of the database. */
  readonly at: string;
  /** Hash of the request without the members that name the escrow. Null for an expiry. */
  readonly request_hash: string | null;
  /** Members sent with the action. */
  readonly said: JsonObject;
}

/** Hash by which a repeated step is recognised. */
export function requestHash(action: string, said: JsonObject): string {
  return canonicalHash({ action, ...said });
}

/** Number of phases up to and including the step with this hash. Null if that step was not taken. */
export function phasesUpTo(
  phases: readonly Pick<Phase<string, string>, 'request_hash'>[],
  request_hash: string,
): number | null {
  const at = phases.findIndex(phase => phase.request_hash === request_hash);
  return at < 0 ? null : at + 1;
}

/** Returns the move if it is legal. @throws invalid_escrow_action, escrow_claim_required */
export function requireMove<S extends string, A extends string>(
  judgement: MoveJudgement<S, A>,
  party: string,
): Extract<MoveJudgement<S, A>, { kind: 'moves' }> {
  if (judgement.kind === 'moves') return judgement;
  const { why, state, legal } = judgement;
  const facts = { state, party, legal };
  if (why === 'claim_wanted') throw new Refusal('escrow_claim_required', { param: 'claim_type', facts });
  const detail = `In the state ${state} the ${party} can take these actions: ${legal.join(', ')}.`;
  throw new Refusal('invalid_escrow_action', { param: 'action', detail, facts });
}

/** First sentence of the error message, by action. */
const refused_by_checks = {
  release: 'The escrow is not released',
  submit: 'The delivery is not accepted',
} as const;

/** Requires that all checks have passed. @throws escrow_checks_failed with the result of each check */
export function requirePassed(
  checks: readonly ReleaseCheck[],
  { action, param }: { readonly action: keyof typeof refused_by_checks; readonly param?: string },
): void {
  const failed = checks.filter(({ passed }) => !passed).map(({ check }) => check);
  if (failed.length === 0) return;
  const detail = `${refused_by_checks[action]}. Failed checks: ${failed.join(', ')}.`;
  throw new Refusal('escrow_checks_failed', { ...present({ param }), detail, facts: { checks } });
}

/** Expiry (Unix ms) of an escrow that is opened now. @throws invalid_request */
export function requireEnd(expires_at: string | undefined, now_ms: number): number {
  const { lasts_seconds_default, lasts_seconds_max } = escrowLimits;
  const end_ms = expires_at === undefined ? now_ms + lasts_seconds_default * 1000 : Date.parse(expires_at);
  const wrong = (detail: string) => new Refusal('invalid_request', { param: 'expires_at', detail });
  if (end_ms <= now_ms) throw wrong('expires_at: must be in the future.');
  if (end_ms > now_ms + lasts_seconds_max * 1000)
    throw wrong(`expires_at: must be at most ${lasts_seconds_max / 86_400} days from now.`);
  return end_ms;
}
