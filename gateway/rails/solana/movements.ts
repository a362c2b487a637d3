import { networks } from '../../../schema/network.ts';
import type { UsdcMovement } from '../foreign/transfer-verifier.ts';
import type { CompiledInstruction, LandedTransaction, TokenBalance } from './chain.ts';
import { type DecodedTransaction, TOKEN_PROGRAM } from './transfer.ts';

export type Movements =
  | { readonly kind: 'read'; readonly movements: readonly UsdcMovement[] }
  /** The accounts' balance changes do not match the instructions. */
  | { readonly kind: 'contradiction' };

/**
 * SPL Token instructions that change balances, by discriminator: indexes of source, destination and mint among the instruction's
 * accounts.
 */
const moving: Readonly<Record<number, { readonly from?: number; readonly to?: number; readonly mint?: number }>> = {
  3: { from: 0, to: 1 },
  7: { to: 1, mint: 0 },
  8: { from: 0, mint: 1 },
  12: { from: 0, mint: 1, to: 2 },
  14: { to: 1, mint: 0 },
  15: { from: 0, mint: 1 },
};
/** Length of the discriminator and the amount (u64). Checked variants add the decimals; further bytes are ignored. */
const MOVING_BYTES_MIN = 9;

interface Flow {
  readonly index: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly amount_atomic: bigint;
}

/**
 * USDC transfers by SPL Token in a transaction, including inner instructions, between accounts whose owners are in the recorded
 * balances. Each account's balance must have changed by exactly the sum of these transfers.
 */
export function movementsIn(read: DecodedTransaction, landed: LandedTransaction): Movements {
  const keys = [...read.message.staticAccounts.map(String), ...landed.loaded];
  const ran = instructionsRun(read, landed);
  if (ran === null) return { kind: 'contradiction' };
  const flows = ran.flatMap((instruction, index) => flowOf(instruction, index, keys) ?? []);
  const accounts = accountsIn(landed);
  const movements: UsdcMovement[] = [];
  for (const { index, from, to, amount_atomic } of flows) {
    const [source, destination] = [from === null ? null : accounts.get(from), to === null ? null : accounts.get(to)];
    // Skips another token, or an account without a known owner.
    if (!source?.owner || !destination?.owner) continue;
    if (![from, to].every(account => changedBy(accounts, flows, account))) return { kind: 'contradiction' };
    movements.push({ index, payer: source.owner, pay_to: destination.owner, amount_atomic });
  }
  return { kind: 'read', movements };
}

/** All instructions in the order in which they ran; null if the node did not record them, or an index is out of range. */
function instructionsRun({ message }: DecodedTransaction, { inner }: LandedTransaction): CompiledInstruction[] | null {
  if (inner === null) return null;
  const { instructions } = message as unknown as {
    readonly instructions: readonly {
      readonly programAddressIndex: number;
      readonly accountIndices?: readonly number[];
      readonly data?: Uint8Array;
    }[];
  };
  const within = new Map(inner.map(({ index, instructions }) => [index, instructions]));
  if (within.size !== inner.length || inner.some(({ index }) => index >= instructions.length)) return null;
  return instructions.flatMap(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }, index) => [
    { program_index: programAddressIndex, account_indexes: accountIndices, data },
    ...(within.get(index) ?? []),
  ]);
}

function flowOf(instruction: CompiledInstruction, index: number, keys: readonly string[]): Flow | null {
  const { program_index, account_indexes, data } = instruction;
  const [discriminator = -1] = data;
  const places = moving[discriminator];
  if (keys[program_index] !== TOKEN_PROGRAM || !places || data.length < MOVING_BYTES_MIN) return null;
  const at = (place: number | undefined) => (place === undefined ? null : (account_indexes[place] ?? null));
  const mint = at(places.mint);
  if (mint !== null && keys[mint] !== networks.solana.usdc) return null;
  return { index, from: at(places.from), to: at(places.to), amount_atomic: Buffer.from(data).readBigUInt64LE(1) };
}

interface UsdcAccount {
  /** Null if the owner was not recorded or was changed in the transaction. */
  readonly owner: string | null;
  readonly change_atomic: bigint;
}

/** Accounts that held USDC before or after the transaction, by index. */
function accountsIn({ before, after }: LandedTransaction): ReadonlyMap<number, UsdcAccount> {
  const places = new Set([...before, ...after].map(({ account_index }) => account_index));
  const accounts = new Map<number, UsdcAccount>();
  for (const place of places) {
    const [was, is] = [before, after].map(list => holdingAt(list, place));
    const [one, other] = [was, is].flatMap(holding => (holding ? [holding] : []));
    const owner = one && (other === undefined || other.owner === one.owner) ? one.owner : null;
    if (one) accounts.set(place, { owner, change_atomic: (is?.amount_atomic ?? 0n) - (was?.amount_atomic ?? 0n) });
  }
  return accounts;
}

function holdingAt(balances: readonly TokenBalance[], place: number): TokenBalance | undefined {
  return balances.find(({ account_index, mint }) => account_index === place && mint === networks.solana.usdc);
}

function changedBy(accounts: ReadonlyMap<number, UsdcAccount>, flows: readonly Flow[], account: number | null) {
  const flowed = flows.reduce(
    (sum, { from, to, amount_atomic }) =>
      sum + (to === account ? amount_atomic : 0n) - (from === account ? amount_atomic : 0n),
    0n,
  );
  return account !== null && accounts.get(account)?.change_atomic === flowed;
}
