import { describe, expect, it } from 'vitest';
import {
  a2aEscrowActions,
  a2aEscrowParties,
  a2aEscrowStates,
  ledgerEscrowActions,
  ledgerEscrowStates,
} from '../../../../schema/escrow.ts';
import { escrowLimits } from '../../../../schema/limits.ts';
import { wordList } from '../../../../schema/words.ts';
import { a2aEscrowMachine } from '../../../../subgraphs/book/escrow/a2a-escrow.machine.ts';
import { ledgerEscrowMachine } from '../../../../subgraphs/book/escrow/ledger-escrow.machine.ts';
import { judgeMove, legalFor, type Machine } from '../../../../subgraphs/book/escrow/machine.ts';

/* Checks both machines completely: every state, action and party, in time and late, with and without a claim. */

const flags = [false, true];

interface Walk<S extends string, A extends string, P extends string> {
  readonly machine: Machine<S, A, P>;
  readonly states: readonly S[];
  readonly parties: readonly P[];
  readonly actions: readonly A[];
}

/**
 * Maps `state party action` to the next state, regardless of the action's further conditions. Every combination that is missing is refused.
 */
function everyStep<S extends string, A extends string, P extends string>({
  machine,
  states,
  parties,
  actions,
}: Walk<S, A, P>) {
  return states.flatMap(state =>
    parties.flatMap(party =>
      actions.flatMap(action =>
        flags.flatMap(overdue =>
          flags.map(claimed => ({
            name: `${state} ${party} ${action}${overdue ? ' late' : ''}${claimed ? ' claimed' : ''}`,
            legal: legalFor(machine, { state, overdue }, party),
            verdict: judgeMove(machine, { state, overdue }, { action, party, claimed }),
            action,
          })),
        ),
      ),
    ),
  );
}

const ledger = everyStep({
  machine: ledgerEscrowMachine,
  states: wordList(ledgerEscrowStates),
  parties: ['owner'],
  actions: wordList(ledgerEscrowActions).filter(action => action !== 'open' && action !== 'status'),
});
const a2a = everyStep({
  machine: a2aEscrowMachine,
  states: wordList(a2aEscrowStates),
  parties: wordList(a2aEscrowParties),
  actions: wordList(a2aEscrowActions).filter(action => action !== 'open' && action !== 'status'),
});

/** Names of all steps that change the state. */
const moving = (steps: typeof ledger | typeof a2a) =>
  Object.fromEntries(
    steps.flatMap(({ name, verdict }) =>
      verdict.kind === 'moves'
        ? [[name, `${verdict.expired_first ? 'expired, ' : ''}${verdict.to}${verdict.checks ? ' if checked' : ''}`]]
        : [],
    ),
  );
/** The same step with and without a claim. */
const either = (name: string, to: string) => ({ [name]: to, [`${name} claimed`]: to });
/** The same step in time and late, with and without a claim. */
const always = (name: string, to: string) => ({ ...either(name, to), ...either(`${name} late`, to) });

describe('the ledger escrow', () => {
  it('moves by these steps, and by no other', () => {
    expect(ledger).toHaveLength(wordList(ledgerEscrowStates).length * 2 * 4);
    expect(moving(ledger)).toEqual({
      ...either('open owner release', 'released if checked'),
      'open owner clawback claimed': 'clawed_back',
      ...either('open owner clawback late', 'expired, clawed_back'),
      ...always('expired owner clawback', 'clawed_back'),
    });
  });
});

describe('the escrow of two agents', () => {
  it('moves by these steps, and by no other', () => {
    expect(a2a).toHaveLength(wordList(a2aEscrowStates).length * 2 * 5 * 4);
    expect(moving(a2a)).toEqual({
      ...either('open principal fund', 'funded'),
      ...either('open principal clawback', 'clawed_back'),
      ...either('open principal clawback late', 'expired, clawed_back'),
      'funded principal clawback claimed': 'clawed_back',
      ...either('funded principal clawback late', 'expired, clawed_back'),
      ...either('funded counterparty submit', 'submitted'),
      ...either('funded counterparty clawback', 'clawed_back'),
      ...always('submitted principal release', 'released if checked'),
      ...always('submitted principal challenge', 'challenged'),
      ...always('submitted counterparty clawback', 'clawed_back'),
      ...always('challenged principal release', 'released if checked'),
      ...either('challenged principal clawback late', 'clawed_back'),
      ...always('challenged counterparty clawback', 'clawed_back'),
      ...always('expired principal clawback', 'clawed_back'),
    });
  });
});

describe.each([
  ['the ledger escrow', ledger],
  ['the escrow of two agents', a2a],
] as const)('%s', (_, steps) => {
  it('names as legal what moves it, with a claim where one is wanted, and `status`; nothing else', () => {
    for (const { name, legal, verdict, action } of steps) {
      expect(legal, name).toContain('status');
      const moves = verdict.kind === 'moves' || verdict.why === 'claim_wanted';
      expect((legal as readonly string[]).includes(action), name).toBe(moves);
      if (verdict.kind === 'refused') expect(verdict.legal, name).toEqual(legal);
    }
  });

  it('wants a claim where nothing but that is missing', () => {
    const unclaimed = steps.flatMap(({ name, verdict }) =>
      verdict.kind === 'refused' && verdict.why === 'claim_wanted' ? [name] : [],
    );
    expect(unclaimed).toEqual(steps === ledger ? ['open owner clawback'] : ['funded principal clawback']);
  });
});

it('no way through either is longer than so many phases, and each comes to an end that nothing leaves', () => {
  const longest = <S extends string, A extends string, P extends string>(
    { moves, expires, expired }: Machine<S, A, P>,
    state: S,
  ): number => {
    const next = Object.values<object | undefined>(moves[state]).flatMap(actions =>
      Object.values((actions ?? {}) as Record<string, { to: S }>).map(({ to }) => to),
    );
    const all = [...next, ...(expires.includes(state) ? [expired] : [])];
    return 1 + Math.max(0, ...all.map(to => longest({ moves, expires, expired }, to)));
  };
  expect(longest(ledgerEscrowMachine, 'open')).toBe(3);
  expect(longest(a2aEscrowMachine, 'open')).toBe(escrowLimits.phases_max);
});
