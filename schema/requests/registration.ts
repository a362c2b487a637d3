import { z } from 'zod';
import { wellFormedText } from './parse.ts';

/**
 * Body of POST /v1/agents/register. Whether the wallet is an address and the signature holds is a rule of registration
 * with answers of its own, so both are plain text here.
 */
export const RegistrationRequest = z.object({
  /** The specification spells this one member in camelCase. */
  agentWallet: wellFormedText.max(128).describe('Wallet to be registered; it must be the payer. Not a secret.'),
  task_id: wellFormedText.max(64).nullable().default(null).describe('Set: recover the registration of this receipt.'),
  wallet_signature: wellFormedText
    .max(4096)
    .nullable()
    .default(null)
    .describe('personal_sign over `svc.register.pay|<checksum_address>|<unix_seconds>`.'),
  signature_timestamp: z.int().min(0).nullable().default(null).describe('The Unix seconds in the signed text.'),
  request_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .nullable()
    .default(null)
    .describe('keccak256 of the signed text; derived where it is left out.'),
});
export type RegistrationRequest = z.output<typeof RegistrationRequest>;
