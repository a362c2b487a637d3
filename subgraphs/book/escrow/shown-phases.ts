import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import type { ReleaseCheck } from './checks.ts';
import type { Phase } from './phase.ts';

/** Point in time at which an escrow is shown: after its first `phases` phases, or at `now_ms`. */
export type EscrowView = { readonly phases: number } | { readonly now_ms: number };

/** The phases up to that point, and the state after them. */
export function phasesAt<P extends Phase<string, string>>(
  { phases: all, expiresAt }: { readonly phases: readonly P[]; readonly expiresAt: Date },
  shown: EscrowView,
) {
  const phases = 'phases' in shown ? all.slice(0, shown.phases) : all;
  const last = phases.at(-1);
  if (!last) throw new Error('an escrow has no phase');
  const now_ms = 'phases' in shown ? Date.parse(last.at) : shown.now_ms;
  return { phases, standing: { state: last.state as P['state'], overdue: now_ms >= expiresAt.getTime() } };
}

/** Members of a phase that are shown as they were recorded. */
export function shownMembers({ claim_type, evidence, checks }: JsonObject) {
  return {
    claimType: (claim_type ?? null) as ClaimType | null,
    evidence: (evidence ?? null) as JsonObject | null,
    checks: (checks ?? null) as readonly ReleaseCheck[] | null,
  };
}
