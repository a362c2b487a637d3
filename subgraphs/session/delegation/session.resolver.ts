import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { grantableEndpoints } from '../../../schema/paid-operations.ts';
import {
  ActRequest,
  RevocationRequest,
  SessionChallengeRequest,
  SessionPath,
} from '../../../schema/requests/session.ts';
import { sessionDomain, sessionTypes } from '../../../schema/session/typed-data.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import type { SessionContext } from '../context.ts';
import { actInSession } from './act.ts';
import { SessionActResult } from './act.type.ts';
import { issueChallenge } from './challenge.ts';
import { activeSession, type StandingSession, standingSession } from './find.ts';
import { revokeSession } from './revoke.ts';
import { DelegatedSession, RevokedSession, SessionActInput, SessionChallenge } from './session.type.ts';
import { shownRevocation } from './shown-revocation.ts';
import { detailForPayer } from './tree.ts';

const SessionArguments = argumentsType(SessionPath);
const ChallengeArguments = argumentsType(SessionPath, SessionChallengeRequest);
const RevokeArguments = argumentsType(SessionPath, RevocationRequest);

@Resolver(() => DelegatedSession)
export class DelegationResolver {
  @Query(() => GraphQLJSONObject, {
    description:
      'EIP-712 data that sessions sign: the domain, earlier domains of this service whose signatures are still valid, the types, and the names allowed in `doors` of a grant.',
  })
  sessionTypes(@Ctx() { base_url, base_urls }: SessionContext): JsonObject {
    const former_domains = base_urls.filter(url => url !== base_url).map(sessionDomain);
    const doors = grantableEndpoints.map(endpoint => ({ ...endpoint }));
    return { domain: sessionDomain(base_url), former_domains, types: sessionTypes, doors };
  }

  @Query(() => DelegatedSession, {
    nullable: true,
    description:
      'A delegated session and its status. Until a payment under the session has been recorded: null, with the error `not_found`.',
  })
  async delegatedSession(
    @Args(() => SessionArguments) args: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<DelegatedSession> {
    const { database, clock } = context;
    requireNotHalted(database);
    const { delegation_hash } = readRequest(SessionPath, args);
    const standing = await standingSession(database, delegation_hash, seconds(clock));
    return { ...shownSession(standing), detail: await detailForPayer(standing.session, context) };
  }

  @Query(() => SessionChallenge, {
    nullable: true,
    description: 'A nonce to sign for one act of an active session. Public. Null only on error.',
  })
  async sessionChallenge(
    @Args(() => ChallengeArguments) args: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<SessionChallenge> {
    requireNotHalted(context.database);
    const { ttl_seconds } = readRequest(SessionChallengeRequest, args, context);
    const { delegation_hash } = readRequest(SessionPath, args);
    const session = await activeSession(context.database, delegation_hash, seconds(context.clock));
    const { challenge_id, nonce, issued_at, deadline } = issueChallenge(context, session.delegationHash, ttl_seconds);
    const domain = sessionDomain(context.base_url);
    const typedData = { domain, types: sessionTypes, primaryType: 'SessionAct' };
    return { challengeId: challenge_id, nonce, issuedAt: issued_at, deadline, typedData };
  }

  @Mutation(() => SessionActResult, {
    nullable: true,
    description:
      'Carries out an act that the key of a session has signed. Each signed act is accepted once. Requires no other credential. Null only on error.',
  })
  async actInSession(
    @Args(() => SessionArguments) args: Arguments,
    @Arg('input', () => SessionActInput, {
      description: 'What the session does, to which resource, and the signature of its key.',
    })
    input: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<SessionActResult> {
    // The signature is the only credential. It is checked against the stored session, so the database must be trusted.
    requireNotHalted(context.database);
    const request = readRequest(ActRequest, input, context);
    return actInSession(readRequest(SessionPath, args).delegation_hash, request, context);
  }

  @Mutation(() => RevokedSession, {
    nullable: true,
    description:
      'Revokes a session and all sessions below it, immediately and permanently. Requires a signature of the payer of the session or of one above it. Null only on error.',
  })
  async revokeSession(
    @Args(() => RevokeArguments) args: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<RevokedSession> {
    requireNotHalted(context.database);
    const request = readRequest(RevocationRequest, args, context);
    return shownRevocation(await revokeSession({ ...readRequest(SessionPath, args), ...request }, context));
  }
}

function seconds({ now_ms }: SessionContext['clock']): number {
  return Math.floor(now_ms() / 1000);
}

function shownSession({ session, status, ended_by }: StandingSession): Omit<DelegatedSession, 'detail'> {
  const { delegationHash, payer, agentPubkey, validAfter, sessionExpiry, parentHash, boundAt, path } = session;
  const bound = boundAt ?? session.createdAt;
  return {
    delegationHash,
    status,
    payer,
    agentPubkey,
    validAfter,
    sessionExpiry,
    path,
    endedBy: ended_by && shownRevocation(ended_by),
    parentDelegationHash: parentHash,
    boundAt: bound,
  };
}
