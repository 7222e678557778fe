export { Recorder, type RecorderCounts, type RecorderOptions, type RecordMessage } from './recorder.ts';
