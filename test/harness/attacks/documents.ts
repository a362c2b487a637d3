/**
 * Joins `count` parts into a document. The documents below cost too much, each for another reason, and are about as long as the service
 * accepts.
 */
const many = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');

export const nested = (depth: number) => `${'{ agent(agentId: 1) '.repeat(depth)}{ wallet }${' }'.repeat(depth)}`;
export const inlineNested = (depth: number) => `${'{ ... on Query '.repeat(depth)}{ __typename }${' }'.repeat(depth)}`;
export const introspectionNested = (depth: number) =>
  `{ __schema { types ${'{ ofType '.repeat(depth)}{ name }${' }'.repeat(depth)} } }`;

/** Each fragment spreads the next one twice: 2^count fields in a few hundred tokens. */
export const bomb = (count: number) =>
  `{ ...f0 } ${many(count, i => `fragment f${i} on Query { ...f${i + 1} ... on Query { ...f${i + 1} } }`)} fragment f${count} on Query { __typename }`;
/** The same growth through aliased fields, so that no two fields can be merged. */
export const aliasedBomb = (count: number) =>
  `{ __schema { queryType { ...f0 } } } ${many(count, i => `fragment f${i} on __Type { a: ofType { ...f${i + 1} } b: ofType { ...f${i + 1} } }`)} fragment f${count} on __Type { name }`;
export const cycle = (length: number) =>
  `{ ...f0 } ${many(length, i => `fragment f${i} on Query { ...f${(i + 1) % length} }`)}`;

/** Reads ten pages in one request. */
export function tenPages(limit: string): string {
  const row = 'taskId evidence collected seq replayCount prevRowHash rowHash event reason bucket intentId payerWallet';
  return `{ ${many(10, i => `a${i}: book(agentId: 1, limit: ${limit}) { entries { ${row} settledBy } }`)} }`;
}

const oftenOfEachRow = (part: (index: number) => string) =>
  `{ book(agentId: 1, limit: 200) { entries { ${many(90, part)} } } }`;

/** Documents that the service must refuse: [name of the test, name of the limit that refuses it, document] */
export const costly: readonly [name: string, limit: string, query: string][] = [
  ['depth 50', 'depth', nested(50)],
  ['inline fragments 300 deep', 'depth', inlineNested(300)],
  ['introspection 300 deep', 'depth', introspectionNested(300)],
  ['400 root fields', 'root_fields', `{ ${many(400, i => `a${i}: __typename`)} }`],
  ['600 aliases', 'aliases', `{ agent(agentId: 1) { ${many(600, i => `a${i}: wallet`)} } }`],
  ['the same root field 60 times', 'root_fields', `{ ${many(60, () => 'book(agentId: 1) { spent }')} }`],
  ['the same field 200 times', 'repeated_fields', `{ agent(agentId: 1) { ${many(200, () => 'wallet')} } }`],
  ['600 fields', 'fields', `{ agent(agentId: 1) { ${many(600, () => 'wallet')} } }`],
  ['a fragment bomb of 2^24 fields', 'depth', bomb(24)],
  ['a fragment bomb that cannot be merged', 'depth', aliasedBomb(24)],
  ['a shallow fragment bomb', 'aliases', aliasedBomb(8)],
  ['a directive 200 times', 'directives', `{ __typename ${many(200, () => '@include(if: true)')} }`],
  ['20 operations', 'operations', many(20, i => `query q${i} { __typename }`)],
  ['80 fragments', 'fragments', `{ __typename } ${many(80, i => `fragment f${i} on Query { __typename }`)}`],
  ['ten full pages', 'cost', tenPages('200')],
  ['what is long under many names', 'cost', `{ book(agentId: 1) { ${many(90, i => `a${i}: intentsDocument`)} } }`],
  ['the replays of 200 rows 90 times', 'cost', oftenOfEachRow(i => `a${i}: replayEvents { at }`)],
  ['the receipts of 200 rows 90 times', 'cost', oftenOfEachRow(i => `a${i}: receipt { document }`)],
  [
    'the texts of 100 posts 90 times',
    'cost',
    `{ boardPostPage(limit: 100) { posts { ${many(90, i => `a${i}: untrustedText`)} } } }`,
  ],
  ['an output 90 times', 'cost', `{ boardJobOutput(jobId: "x") { ${many(90, i => `a${i}: untrustedOutput`)} } }`],
  ['the texts of 200 receipts 90 times', 'cost', oftenOfEachRow(i => `a${i}: receipt { preimage }`)],
];

/** One page of 200 rows with every member of each row, as a dashboard may request it. The service must allow it. */
export const wholePage = `query Page($limit: Int) { book(agentId: 1, limit: $limit) { agentId limit
  intents { intentId collectedCount blockedCount } spent cap remaining totals { count usdcSum byRail { rail count amount } }
  allowance { agentId remaining asOf signature { alg value } } entries { agentId seq taskId
  evidence collected collectedAt intentId attemptIndex payerWallet settledBy parentRef recordedBy arrivalStatus
  fulfillment { jobKind resource outputCommitment { status hash kind } } omissionRule ingressReceipt { ref confirmedAt } replayCount prevRowHash rowHash payment { ref rail amount } route { model hub } replayEvents { at count }
  event policyCode reason policyKey spentAtomic capAtomic periodStart refusalId bucket allocation corrects yieldedTo
  inflowClaim inflowCorrections merges mergedBy
  receipt { taskId leafIndex treeSize rootHash treeHeadHash preimage payloadHash payloadVersion jws kid paymentRef agentId
    bookSeq payerWallet hub model amount settledBy proofOutcome issuedAt collectedAt verifyUrl document } } } }`;
