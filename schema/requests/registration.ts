import { z } from 'zod';
import { limits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { wellFormedText } from './text.ts';

/**
 * Body of POST /v1/agents/register. Both wallet and signature are plain text here, because registration checks them and has error codes of
 * its own.
 */
export const RegistrationRequest = z.strictObject({
  /** The specification spells this one member in camelCase. */
  agentWallet: wellFormedText
    .max(limits.registered_wallet_chars_max)
    .describe(
      'Wallet to register (0x and 40 hex digits). It must be the payer of this call or, with `task_id`, of that receipt.',
    ),
  task_id: wellFormedText
    .max(limits.id_chars_max)
    .nullable()
    .default(null)
    .describe(
      'Task id of a collected receipt of the same wallet: registers by it for free or, if it has registered the wallet, recovers the registration with a new session. Default: null, which registers by the payment of the stamp.',
    ),
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .nullable()
    .default(null)
    .describe(
      `Required. Signature over ${textForm('register_pay')} or, with task_id, over ${textForm('register_recover')}: ` +
        'personal_sign, ERC-1271 or ERC-6492. ' +
        'A recover signature opens one session. Sent again, it is refused with 401, even if the first response was lost: sign a later time.',
    ),
  signature_timestamp: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe(
      `Required. Unix seconds in the text that \`wallet_signature\` signs, at most ${limits.wallet_signature_age_seconds_max} seconds ago.`,
    )
    .meta({ scalar: 'SafeInt' }),
  request_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .nullable()
    .default(null)
    .describe('Any 32 bytes (0x and 64 hex digits) to store with the agent. Default: keccak256 of the signed text.'),
  proof: wellFormedText
    .max(limits.registration_proof_chars_max)
    .nullish()
    .describe(
      'Plain proof `sha256=<hex>` by the session of the book that the wallet has. Not needed; a wrong one is refused with 400.',
    ),
});
/**
 * Canonical form without the proof, because a payment is bound to what is registered and a proof has to be made again after five minutes.
 */
export type RegistrationRequest = Omit<z.output<typeof RegistrationRequest>, 'proof'>;
