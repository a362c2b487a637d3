import type { JsonObject } from '../../../schema/canonical-json.ts';
import { keccak256 } from '../../../schema/digest.ts';
import type { Wallet } from '../buyer.ts';

export const hashOf = (input: string): string => `0x${Buffer.from(keccak256(Buffer.from(input))).toString('hex')}`;

/** The smallest valid task of that wallet. Tasks with different inputs are different tasks. */
export function taskOf({ address: sender }: Pick<Wallet, 'address'>, input?: string): JsonObject {
  const task = { message_type: 'inference_request', chain_id: 'base', amount: '2000', sender };
  return input === undefined ? task : { ...task, input_hash: hashOf(input) };
}
