import { z } from 'zod';
import { SessionActNoun } from '../../schema/session/act-result.ts';
import {
  SessionChallengeNoun,
  SessionDomainShape,
  SessionListNoun,
  SessionNoun,
  SessionRevocationNoun,
  SessionTypesShape,
} from '../../schema/session/delegated-session.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What delegated sessions sign, as it is published, beside the nouns of sessions and acts. */

export const SessionTypesAnswer = z
  .object({
    domain: SessionDomainShape.describe('Domain that grants, acts and revocations are signed under.'),
    former_domains: z
      .array(SessionDomainShape)
      .describe('Domains of base URLs that the service had before. Signatures under one of them are still valid.'),
    types: SessionTypesShape,
    doors: z
      .array(z.object({ name: z.string(), path: z.string() }))
      .describe(
        'Names that `doors` of a grant can hold: the names of the paid endpoints, which are also those of their tools. A name is valid by ' +
          'REST, MCP, A2A and GraphQL, and for both payments of a job.',
      ),
  })
  .describe(
    'EIP-712 typed data, in the form that wallets take. The digest of an AuthorizeSession is the delegation_hash of its session. A session that was bound ' +
      'under version 1 of the domain, which has no salt, pays until it expires and can be revoked under either version; its acts ' +
      'are signed under this one.',
  );

nameComponents({
  SessionTypes: SessionTypesAnswer,
  DelegatedSession: SessionNoun,
  DelegatedSessionList: SessionListNoun,
  SessionChallenge: SessionChallengeNoun,
  SessionAct: SessionActNoun,
  SessionRevocation: SessionRevocationNoun,
});
