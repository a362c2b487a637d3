import type { Random } from '../clock.ts';
import type { AnyPaid } from '../sale.ts';
import { type AddedResolvers, buildSubgraph, type Subgraph } from '../subgraph.ts';
import type { Vault } from '../vault.ts';
import { Agent } from './agent/agent.entity.ts';
import { AgentResolver, resolveAgent } from './agent/agent.resolver.ts';
import { ActUse, HandOff, Redemption, SessionUse } from './delegation/acts.entity.ts';
import { DelegatedCall } from './delegation/delegated-call.entity.ts';
import { Delegation } from './delegation/delegation.entity.ts';
import { DelegationResolver } from './delegation/session.resolver.ts';
import { SessionBurn } from './delegation/session-burn.entity.ts';
import { SessionTreeResolver } from './delegation/tree.resolver.ts';
import { SessionCoreBaseline } from './migration.ts';
import { PossessionRecord } from './possession/possession.entity.ts';
import { PossessionResolver } from './possession/possession.resolver.ts';
import { ProofUseRecord } from './possession/proof-use.entity.ts';
import { registrationPaid } from './registration/registration.paid.ts';
import { RegistrationResolver } from './registration/registration.resolver.ts';
import { SignatureUse } from './registration/signature-use.entity.ts';

export const sessionEntities = [
  Agent,
  PossessionRecord,
  ProofUseRecord,
  SignatureUse,
  Delegation,
  DelegatedCall,
  SessionBurn,
  ActUse,
  HandOff,
  Redemption,
  SessionUse,
];
export const sessionMigrations = [SessionCoreBaseline];

/** The session subgraph: agents, and the credentials that open their books. */
export function sessionSubgraph(added: AddedResolvers = []): Promise<Subgraph> {
  const delegation = [DelegationResolver, SessionTreeResolver];
  const resolvers = [AgentResolver, PossessionResolver, RegistrationResolver, ...delegation, ...added] as const;
  return buildSubgraph('session', { resolvers: [...resolvers] }, { Agent: resolveAgent });
}

/** Paid fields of this subgraph. A payment for a field that is missing here could be claimed but never recorded. */
export function sessionSold(parts: { readonly vault: Vault; readonly random: Random }): readonly AnyPaid[] {
  return [registrationPaid(parts) as unknown as AnyPaid];
}
