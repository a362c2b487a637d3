/* How an escrow moves on: who may do what in which state is a table, and this reads it. Pure; time comes in as `overdue`. */

/** What a move wants beside the state: a claim, every check passed, or that the escrow's time is over. */
type Want = 'claim' | 'checks' | 'overdue';

interface Move<S extends string> {
  readonly to: S;
  readonly wants?: Want;
}

export interface Machine<S extends string, A extends string, P extends string> {
  /** Nothing but what stands here is legal; `status` always is, and moves nothing. */
  readonly moves: { readonly [state in S]: { readonly [party in P]?: { readonly [action in A]?: Move<S> } } };
  /** States that end by themselves once the time is over. */
  readonly expires: readonly S[];
  readonly expired: S;
}

interface Standing<S extends string> {
  readonly state: S;
  /** The escrow's time is over, by the database's clock. */
  readonly overdue: boolean;
}

export type MoveJudgement<S extends string, A extends string> =
  /** `expired_first`: by its time it had ended before, and that is a phase of its own. */
  | { readonly kind: 'moves'; readonly to: S; readonly checks: boolean; readonly expired_first: boolean }
  | {
      readonly kind: 'refused';
      readonly why: 'illegal' | 'claim_wanted';
      readonly state: S;
      readonly legal: readonly (A | 'status')[];
    };

/** The state that an escrow is in by its time, whether that was written down or not. */
export function stateBy<S extends string, A extends string, P extends string>(
  { expires, expired }: Machine<S, A, P>,
  { state, overdue }: Standing<S>,
): S {
  return overdue && expires.includes(state) ? expired : state;
}

/** What this party may do now. */
export function legalFor<S extends string, A extends string, P extends string>(
  machine: Machine<S, A, P>,
  standing: Standing<S>,
  party: P,
): readonly (A | 'status')[] {
  const moves = machine.moves[stateBy(machine, standing)][party] ?? {};
  const entries = Object.entries<Move<S> | undefined>(moves);
  const legal = entries.flatMap(([action, move]) =>
    move && (move.wants !== 'overdue' || standing.overdue) ? [action as A] : [],
  );
  return [...legal, 'status'];
}

/** @param claimed a claim type came along */
export function judgeMove<S extends string, A extends string, P extends string>(
  machine: Machine<S, A, P>,
  standing: Standing<S>,
  { action, party, claimed }: { readonly action: A; readonly party: P; readonly claimed: boolean },
): MoveJudgement<S, A> {
  const state = stateBy(machine, standing);
  const legal = legalFor(machine, standing, party);
  const move: Move<S> | undefined = machine.moves[state][party]?.[action];
  if (!move || !legal.includes(action)) return { kind: 'refused', why: 'illegal', state, legal };
  if (move.wants === 'claim' && !claimed) return { kind: 'refused', why: 'claim_wanted', state, legal };
  return { kind: 'moves', to: move.to, checks: move.wants === 'checks', expired_first: state !== standing.state };
}
