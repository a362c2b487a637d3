/** What is said of one fact of a book's row: see book-row.ts, which has all of them. */
export interface RowFact {
  /**
   * Where it comes from. `place`: the ledger's, as the row is appended; `birth`: whoever collects says it, and it is
   * hashed with the place; `later`: null at birth, set by an arrival; `counted`: by the replays that follow; `facts`: a
   * member of the column `facts`, which only some kinds of row carry; `events`: told by the book's events; `rows`: by
   * rows that were born later; `session`: by the delegated session that its call was made under.
   */
  readonly from: 'place' | 'birth' | 'later' | 'counted' | 'facts' | 'events' | 'rows' | 'session';
  /** `digits`: a text of atomic units. */
  readonly type: 'text' | 'digits' | 'integer' | 'boolean' | 'amount' | 'time' | 'json' | 'json_list' | 'text_list';
  /** The values that a text may have. */
  readonly one_of?: readonly string[];
  readonly nullable?: true;
  /** An arrival may change it: the event of that keeps what the row was born with. */
  readonly moves?: true;
  /** Shown as this member of a group, and not by its own name. */
  readonly group?: readonly [group: RowGroup, member: string];
  /** Of a member of `facts`: most rows carry it, so it makes none a rare one for those who read many. */
  readonly common?: true;
  /** It came once rows stood: hashed only where it is set, so that what stood before keeps its hash. */
  readonly added?: true;
  /** On the graph. */
  readonly description?: string;
  /** What one of it weighs in the cost of a document, where that is more than a field's. */
  readonly cost?: number;
  /** In OpenAPI. */
  readonly rest_description?: string;
  /** `none`: it is no member of the REST answer; `null`: it stands there also when it is null. */
  readonly rest?: 'none' | 'null';
  /** It is on no face at all. */
  readonly hidden?: true;
}
export type RowGroup = 'payment' | 'route';
