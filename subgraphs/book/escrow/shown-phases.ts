import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import type { ReleaseCheck } from './checks.ts';
import type { Phase } from './phase.ts';

/** As of when an escrow is shown: as it stood after so many phases, or with all of them at that moment. */
export type Shown = { readonly phases: number } | { readonly now_ms: number };

/** The phases that are shown then, and how it stands by these. */
export function phasesAt<P extends Phase<string, string>>(
  { phases: all, expiresAt }: { readonly phases: readonly P[]; readonly expiresAt: Date },
  shown: Shown,
) {
  const phases = 'phases' in shown ? all.slice(0, shown.phases) : all;
  const last = phases.at(-1);
  if (!last) throw new Error('an escrow has no phase');
  const now_ms = 'phases' in shown ? Date.parse(last.at) : shown.now_ms;
  return { phases, standing: { state: last.state as P['state'], overdue: now_ms >= expiresAt.getTime() } };
}

/** What of a phase is shown as it was said. */
export function shownSaid({ claim_type, evidence, checks }: JsonObject) {
  return {
    claimType: (claim_type ?? null) as ClaimType | null,
    evidence: (evidence ?? null) as JsonObject | null,
    checks: (checks ?? null) as readonly ReleaseCheck[] | null,
  };
}
