import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { Agent } from './agent/agent.entity.ts';
import { AgentResolver, resolveAgent } from './agent/agent.resolver.ts';
import { SessionTables } from './migration.ts';
import { PossessionRecord } from './possession/possession.entity.ts';
import { PossessionResolver } from './possession/possession.resolver.ts';
import { RegistrationResolver } from './registration/registration.resolver.ts';

export { agentOfWallet, agentsOfWallets } from './agent/find.ts';
export type { SessionContext, WalletProofs, WalletVerdict } from './context.ts';
export { type DecoyBox, heldByProof, heldBySession, sealDecoy } from './possession/check.ts';
export { registrationPaid } from './registration/registration.paid.ts';

export const sessionEntities = [Agent, PossessionRecord];
export const sessionMigrations = [SessionTables];

/** Who agents are, and what opens their books. */
export function sessionSubgraph(): Promise<Subgraph> {
  const resolvers = [AgentResolver, PossessionResolver, RegistrationResolver] as const;
  return buildSubgraph('session', { resolvers: [...resolvers] }, { Agent: resolveAgent });
}
