import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { grantableEndpoints } from '../../../schema/paid-operations.ts';
import { requestOf } from '../../../schema/requests/parse.ts';
import { ActRequest, RevocationRequest, SessionChallengeRequest } from '../../../schema/requests/session.ts';
import { sessionDomain, sessionTypes } from '../../../schema/session/typed-data.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { SessionContext } from '../context.ts';
import { actInSession } from './act.ts';
import { SessionActResult } from './act.type.ts';
import { issueChallenge } from './challenge.ts';
import { activeSession, type StandingSession, standingSession } from './find.ts';
import { revokeSession } from './revoke.ts';
import { DelegatedSession, RevokedSession, SessionActInput, SessionChallenge } from './session.type.ts';
import { shownRevocation } from './shown-revocation.ts';
import { detailForPayer } from './tree.ts';

const WHICH = 'The EIP-712 digest of its grant.';

@Resolver(() => DelegatedSession)
export class DelegationResolver {
  @Query(() => GraphQLJSONObject, {
    description:
      'What sessions sign (EIP-712): domain, former domains of this service whose signatures still count, types, and the names that `doors` of a grant may hold.',
  })
  sessionTypes(@Ctx() { base_url, base_urls }: SessionContext): JsonObject {
    const former_domains = base_urls.filter(url => url !== base_url).map(sessionDomain);
    const doors = grantableEndpoints.map(endpoint => ({ ...endpoint }));
    return { domain: sessionDomain(base_url), former_domains, types: sessionTypes, doors };
  }

  @Query(() => DelegatedSession, { nullable: true, description: 'How a session stands; bound by a recorded payment.' })
  async delegatedSession(
    @Arg('delegationHash', () => String, { description: WHICH }) delegationHash: string,
    @Ctx() context: SessionContext,
  ): Promise<DelegatedSession> {
    const { database, clock } = context;
    requireNotHalted(database);
    const standing = await standingSession(database, delegationHash, seconds(clock));
    return { ...shownSession(standing), detail: await detailForPayer(standing.session, context) };
  }

  @Query(() => SessionChallenge, { nullable: true, description: 'A nonce for an act of an active session.' })
  async sessionChallenge(
    @Arg('delegationHash', () => String, { description: WHICH }) delegationHash: string,
    @Arg('ttlSeconds', () => Int, { nullable: true, description: '120 to 300; 300 where it is left out.' })
    ttlSeconds: number | null,
    @Ctx() context: SessionContext,
  ): Promise<SessionChallenge> {
    requireNotHalted(context.database);
    const asked = { ttlSeconds: ttlSeconds ?? undefined };
    const { ttl_seconds } = requestOf(SessionChallengeRequest, asked, context.valid_body);
    const session = await activeSession(context.database, delegationHash, seconds(context.clock));
    const { challenge_id, nonce, issued_at, deadline } = issueChallenge(context, session.delegationHash, ttl_seconds);
    const domain = sessionDomain(context.base_url);
    const typedData = { domain, types: sessionTypes, primaryType: 'SessionAct' };
    return { challengeId: challenge_id, nonce, issuedAt: issued_at, deadline, typedData };
  }

  @Mutation(() => SessionActResult, { nullable: true, description: "Does, once, what a session's key has signed for." })
  async actInSession(
    @Arg('delegationHash', () => String, { description: WHICH }) delegationHash: string,
    @Arg('input', () => SessionActInput, { description: 'What is to be done, and its signature.' })
    input: SessionActInput,
    @Ctx() context: SessionContext,
  ): Promise<SessionActResult> {
    // Its credential is the signature in it, which is judged by what the database says of the session.
    requireNotHalted(context.database);
    return actInSession(delegationHash, requestOf(ActRequest, input, context.valid_body), context);
  }

  @Mutation(() => RevokedSession, {
    nullable: true,
    description: 'Ends a session and all below it, at once and for good.',
  })
  async revokeSession(
    @Arg('delegationHash', () => String, { description: WHICH }) delegationHash: string,
    @Arg('at', () => Int, { description: 'The Unix seconds that were signed: now.' }) at: number,
    @Arg('signature', () => String, { description: 'Over RevokeSession, by its payer or one of a session over it.' })
    signature: string,
    @Ctx() context: SessionContext,
  ): Promise<RevokedSession> {
    requireNotHalted(context.database);
    const request = requestOf(RevocationRequest, { at, signature }, context.valid_body);
    return shownRevocation(await revokeSession({ delegation_hash: delegationHash, ...request }, context));
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
