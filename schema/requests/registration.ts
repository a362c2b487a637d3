import { z } from 'zod';
import { limits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { wellFormedText } from './text.ts';

/* The body of POST /v1/agents/register. */

/**
 * Body of POST /v1/agents/register. Whether the wallet is an address and the signature holds is a rule of registration
 * with answers of its own, so both are plain text here.
 */
export const RegistrationRequest = z.strictObject({
  /** The specification spells this one member in camelCase. */
  agentWallet: wellFormedText.max(128).describe('Wallet to be registered; it must be the payer. Not a secret.'),
  task_id: wellFormedText
    .max(64)
    .nullable()
    .default(null)
    .describe('Set: register by this collected receipt, for nothing; or recover its registration.'),
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .nullable()
    .default(null)
    .describe(
      `Signature over ${textForm('register_pay')}, with task_id over ${textForm('register_recover')}: ` +
        'personal_sign, ERC-1271 or ERC-6492. ' +
        'A recover signature opens one session, once: used again it is 401, also where its answer was lost; sign a later one.',
    ),
  signature_timestamp: z.int().min(0).nullable().default(null).describe('The Unix seconds in the signed text.'),
  request_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .nullable()
    .default(null)
    .describe('Any 32 bytes, kept with the agent; keccak256 of the signed text where it is left out.'),
  proof: wellFormedText
    .max(128)
    .nullish()
    .describe('`sha256=<hex>`, over the book that stands for the wallet: not needed, and 400 where it is wrong.'),
});
/** Without the proof: a payment is bound to what is registered, and a proof is another one in five minutes. */
export type RegistrationRequest = Omit<z.output<typeof RegistrationRequest>, 'proof'>;
