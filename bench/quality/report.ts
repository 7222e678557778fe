import type { AblationReport } from '../ablation/report.ts';
import type { ActivatedParameters } from './passes.ts';
import type { Gap } from './gap.ts';
import type { CurvePoint } from './outcome.ts';

/** One router on one list of problems. */
export interface QualityRow extends CurvePoint {
  id: string;
  label: string;
  /** Absent: not on a curve. */
  algorithm?: string;
  threshold?: number;
  note?: string;
  /** The operating point that the validation problems chose. */
  isChosen: boolean;
  problems: number;
  /** Of the accuracy. */
  standardError: number;
  /** Accuracy over the large model's, on the same problems, and its interval of 95 % by resampling problems. */
  ofLarge: { ratio: number; low: number; high: number };
  /** Exact two-sided test against the large model on the same problems. */
  mcNemarP: number;
  activatedParameters: ActivatedParameters;
  tokensPerAnswer: number;
  handoffsPerAnswer: number;
  tokensPerSecond: number;
}

/** A curve against what it should lie above; `gap` is absent where they have no share in common. */
export interface Comparison {
  algorithm: string;
  reference: string;
  isAbove: boolean;
  gap?: Gap;
}

/** A curve that follows from the models alone. */
export interface ReferenceCurve {
  name: string;
  points: (CurvePoint & { activatedParameters: number })[];
}

export interface ListReport {
  list: string;
  problems: number;
  rows: QualityRow[];
  references: ReferenceCurve[];
  /** Every curve against routing of whole queries. */
  againstQueries: Comparison[];
  /** Trained networks against plain entropy. */
  againstEntropy: Comparison[];
  goal: {
    maxShare: number;
    ofLarge: number;
    /** Algorithms whose chosen point is there, on this list. */
    reachedBy: string[];
    reachedByTrained: string[];
    /** Trained algorithms that were run. */
    numTrained: number;
  };
}

export interface QualityReport {
  machine: AblationReport['machine'];
  settings: { concurrency: number; seed: number; maxShare: number; resamples: number };
  /** Trained algorithms that were left out, and the file that is not there. */
  missing: { algorithm: string; file: string }[];
  parameters: Record<string, number>;
  validation: {
    problems: number;
    smallAccuracy: number;
    largeAccuracy: number;
    points: (CurvePoint & { algorithm: string; threshold: number; isChosen: boolean })[];
  };
  lists: ListReport[];
  seconds: number;
}
