import type { VariableFault } from './fault.ts';
import { withoutSolana } from './substitutes.ts';
import { type Environment, type VariableName, variables } from './variables.ts';

/*
 * Variables that are set without effect, which is most likely a mistake. Each start warns about them and does not fail, because the
 * environment may contain variables of other programs.
 */

/** Variables that commands read and that are not part of the configuration. */
const ofCommands = [
  'SERVICE_URL',
  'SVC_SESSION',
  'SVC_API_KEY',
  'SVC_ROUTER_KEY',
  'SVC_TOOLS',
  'SVC_SCHEMAS',
  'WALLET_KEY',
];

const known: readonly string[] = [...Object.keys(variables.shape), ...ofCommands];

/** Prefixes that variables of other programs do not have. */
const OURS = /^(?:ANCHOR|BOARD|FACILITATOR|FORMER_BASE|RATE|SETTLE_FEE|SUBGRAPH)_/;

/** Minimum length of a name that is compared. Shorter names resemble variables of other programs. */
const NAME_CHARS_MIN = 7;
const SLIPS_MAX = 2;

type IdleVariable = Readonly<{ variable: VariableName; problem: string; is(environment: Environment): boolean }>;

const SETTLED_ELSEWHERE = 'has no effect with FACILITATOR_URL: the facilitator settles with its own keys and fees';
const NO_SOLANA = 'has no effect: another Solana variable is empty, so payments on Solana are not offered';

/** Variables that have no effect because of another variable. */
const idle: readonly IdleVariable[] = [
  ...(['FACILITATOR_KEYS', 'SOLANA_FEE_PAYER_KEY', 'SETTLE_FEE_MAX', 'SETTLE_FEE_DAY_MAX', 'ETH_USD'] as const).map(
    (variable): IdleVariable => ({
      variable,
      problem: SETTLED_ELSEWHERE,
      is: ({ FACILITATOR_URL }) => !!FACILITATOR_URL,
    }),
  ),
  ...(['SOLANA_RPC_URL', 'PAY_TO_SOLANA'] as const).map(
    (variable): IdleVariable => ({ variable, problem: NO_SOLANA, is: withoutSolana }),
  ),
  {
    variable: 'ROUTER_MODELS',
    problem: 'has no effect: ROUTER_URL is empty, so there is no router',
    is: ({ ROUTER_URL }) => ROUTER_URL === '',
  },
  {
    variable: 'DATABASE_PLAIN',
    problem: 'has no effect without DATABASE_URL',
    is: ({ DATABASE_URL }) => !DATABASE_URL,
  },
];

/** The variables that are set without effect, each with the reason. */
export function variablesWithoutEffect(environment: Environment): VariableFault[] {
  const set = Object.entries(environment).flatMap(([name, value]) => (value ? [name] : []));
  const misspelt = set.flatMap(variable => {
    if (known.includes(variable)) return [];
    const meant = nearestTo(variable);
    if (meant !== null) return [{ variable, problem: `is not read. Did you mean ${meant}?` }];
    return OURS.test(variable)
      ? [{ variable, problem: 'is not read: there is no setting of this name. Correct or unset it' }]
      : [];
  });
  const without = idle.filter(({ variable, is }) => environment[variable] && is(environment));
  return [...misspelt, ...without.map(({ variable, problem }) => ({ variable, problem }))];
}

function nearestTo(name: string): string | null {
  if (name.length < NAME_CHARS_MIN) return null;
  return known.find(it => it.length >= NAME_CHARS_MIN && slipsBetween(name, it) <= SLIPS_MAX) ?? null;
}

/** Damerau-Levenshtein distance: number of letters that are missing, added, changed, or exchanged with their neighbour. */
function slipsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > SLIPS_MAX) return SLIPS_MAX + 1;
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const at = (up: number, back: number) => (up === 0 ? row : rows[i - up])?.[j - back] ?? 0;
      const same = one[i - 1] === other[j - 1];
      const exchanged = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(
        Math.min(at(1, 0) + 1, at(0, 1) + 1, at(1, 1) + (same ? 0 : 1), exchanged ? at(2, 2) + 1 : SLIPS_MAX + 1),
      );
    }
    rows.push(row);
  }
  return rows[one.length]?.[other.length] ?? SLIPS_MAX + 1;
}
