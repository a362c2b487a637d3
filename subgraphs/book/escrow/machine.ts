/*
 * State machines of escrows. A table lists the moves of each party in each state. The functions are pure: they get the time as the
 * member `overdue`.
 */

/** Additional requirement of a move: a claim type, passed checks, or that the expiry has passed. */
type Want = 'claim' | 'checks' | 'overdue';

interface Move<S extends string> {
  readonly to: S;
  readonly wants?: Want;
}

export interface Machine<S extends string, A extends string, P extends string> {
  /** The only legal moves. `status` is always legal and changes nothing. */
  readonly moves: { readonly [state in S]: { readonly [party in P]?: { readonly [action in A]?: Move<S> } } };
  /** States that end at the expiry. */
  readonly expires: readonly S[];
  readonly expired: S;
}

interface Standing<S extends string> {
  readonly state: S;
  /** True if the expiry has passed, by the clock of the database. */
  readonly overdue: boolean;
}

export type MoveJudgement<S extends string, A extends string> =
  /** `expired_first` is true if the escrow had expired before. The expiry is then recorded as a separate phase before the move. */
  | { readonly kind: 'moves'; readonly to: S; readonly checks: boolean; readonly expired_first: boolean }
  | {
      readonly kind: 'refused';
      readonly why: 'illegal' | 'claim_wanted';
      readonly state: S;
      readonly legal: readonly (A | 'status')[];
    };

/** The state, with an expiry that is not recorded yet taken into account. */
export function stateBy<S extends string, A extends string, P extends string>(
  { expires, expired }: Machine<S, A, P>,
  { state, overdue }: Standing<S>,
): S {
  return overdue && expires.includes(state) ? expired : state;
}

/** Actions that this party can take now. */
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

/** Decides whether a party may make a move. @param claimed whether a claim type was sent */
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
