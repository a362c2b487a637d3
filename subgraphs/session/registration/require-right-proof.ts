import { Refusal } from '../../../schema/errors.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import type { Services } from '../../context.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import { agentOfWallet } from '../agent/find.ts';
import { heldByProof, sealDecoy } from '../possession/check.ts';
import { checksumAddress } from './control.ts';

/**
 * A book proof is not asked for here: whoever shows one means the book that stands for the wallet, and is told where it
 * does not open that. Before anything is claimed or taken: the payment stays usable. @throws invalid_proof
 */
export async function requireRightProof(
  { agentWallet }: Pick<RegistrationRequest, 'agentWallet'>,
  proof: string | null,
  services: Pick<Services, 'database' | 'vault' | 'clock' | 'random'>,
): Promise<void> {
  if (proof === null) return;
  requireNotHalted(services.database);
  const agent_id = await agentOfWallet(services.database, checksumAddress(agentWallet) ?? '');
  const shown = { agent_id: agent_id ?? 0, value: proof, nonce: null, request: null };
  const held = await heldByProof({ ...services, decoy: sealDecoy(services) }, shown);
  if (held === null) throw new Refusal('invalid_proof', { param: 'proof' });
}
